from typing import Any

import pytest

from shardc.runtime import MeshDim, ShardError, mesh


def test_a_dim_that_nobody_gives_is_rank_0_of_1() -> None:
    assert mesh(("tp", "ep")) == {"tp": MeshDim("tp", 0, 1), "ep": MeshDim("ep", 0, 1)}


def test_tp_and_further_dims() -> None:
    assert mesh(("tp", "ep"), 3, 8, {"ep": (1, 2)}) == {"tp": MeshDim("tp", 3, 8), "ep": MeshDim("ep", 1, 2)}


def test_tp_among_the_further_dims() -> None:
    assert mesh(("tp",), extra={"tp": (3, 8)}) == {"tp": MeshDim("tp", 3, 8)}


def test_a_rank_is_not_needed_where_there_is_one() -> None:
    assert mesh(("ep",), extra={"ep": (None, 1)}) == {"ep": MeshDim("ep", 0, 1)}


@pytest.mark.parametrize(
    ("rank", "size", "text"),
    [
        (None, 4, "tp_rank is needed: tp_size is 4"),
        (4, 4, "tp_rank 4 is outside 0..3"),
        (-1, 4, "tp_rank -1 is outside 0..3"),
        (1, 1, "tp_rank 1 is outside 0..0"),
        (0, 0, "tp_size 0 is below 1"),
        (0, True, "tp_size must be a whole number, not True"),
        (False, 4, "tp_rank must be a whole number, not False"),
        (0, 2.0, "tp_size must be a whole number, not 2.0"),
        ("0", 2, "tp_rank must be a whole number, not '0'"),
    ],
)
def test_refused_coordinates(rank: Any, size: Any, text: str) -> None:
    with pytest.raises(ShardError) as caught:
        mesh(("tp", "ep"), rank, size)
    assert caught.value.findings == (("SHD410", text),)


def test_every_fault_is_found() -> None:
    with pytest.raises(ShardError) as caught:
        mesh(("tp", "ep"), 9, 8, {"pp": (0, 2), "ep": 3, "tp": (0, 1)})  # type: ignore[dict-item]
    assert caught.value.findings == (
        ("SHD410", "tp is given twice: in mesh, and by tp_rank and tp_size"),
        ("SHD410", "unknown mesh dim pp: this model has tp, ep"),
        ("SHD410", "ep must be (rank, size), not 3"),
        ("SHD410", "tp_rank 9 is outside 0..7"),
    )


def test_the_ends_of_a_mesh_dim() -> None:
    ranks = [MeshDim("pp", rank, 3) for rank in range(3)]
    assert [dim.is_first for dim in ranks] == [True, False, False]
    assert [dim.is_last for dim in ranks] == [False, False, True]
    assert MeshDim("pp", 0, 1).is_first and MeshDim("pp", 0, 1).is_last
