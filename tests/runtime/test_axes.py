"""The elements of an axis that a rank keeps."""

import pytest

from shardc.runtime import Axis, MeshDim, ShardError, axis, per, within


def experts(rank: int, size: int = 7, granule: int = 1) -> Axis:
    """Dealt round robin to two ranks."""
    mesh_dim = MeshDim("ep", rank, 2)
    return axis("experts", size, mesh_dim, granule=granule, if_uneven="spread", placement="round_robin")


def layers(rank: int) -> Axis:
    """0..2 on rank 0, 3 and 4 on rank 1."""
    return axis("layers", 5, MeshDim("pp", rank, 2), if_uneven="spread")


def test_runs() -> None:
    assert [experts(rank).runs for rank in (0, 1)] == [[(0, 1), (2, 3), (4, 5), (6, 7)], [(1, 2), (3, 4), (5, 6)]]
    assert [experts(rank, granule=2).runs for rank in (0, 1)] == [[(0, 2), (4, 6)], [(2, 4), (6, 7)]]
    assert [layers(rank).runs for rank in (0, 1)] == [[(0, 3)], [(3, 5)]]
    assert [experts(rank).local for rank in (0, 1)] == [4, 3]


def test_elements() -> None:
    assert [list(experts(rank).elements()) for rank in (0, 1)] == [[0, 2, 4, 6], [1, 3, 5]]
    assert [list(experts(rank, granule=2).elements()) for rank in (0, 1)] == [[0, 1, 4, 5], [2, 3, 6]]


def test_a_part_of_the_elements() -> None:
    assert [list(layers(rank).elements(1)) for rank in (0, 1)] == [[1, 2], [3, 4]]
    assert [list(layers(rank).elements(0, 4)) for rank in (0, 1)] == [[0, 1, 2], [3]]
    assert [list(layers(rank).elements(1, 2)) for rank in (0, 1)] == [[1], []]
    assert [list(experts(rank).elements(2, 5)) for rank in (0, 1)] == [[2, 4], [3]]
    assert list(layers(0).elements(4, 2)) == []


def test_a_part_that_is_past_the_axis() -> None:
    with pytest.raises(ShardError) as caught:
        list(layers(0).elements(0, 6))
    assert caught.value.findings == (("SHD112", "6 is past the 5 layers"),)


def test_an_axis_within_goes_round_too() -> None:
    rows = [within("rows", 21, experts(rank)) for rank in (0, 1)]
    assert [one.runs for one in rows] == [[(0, 3), (6, 9), (12, 15), (18, 21)], [(3, 6), (9, 12), (15, 18)]]
    assert per(rows[1], experts(1), 3) == (0, 3)
    assert within("none", 0, experts(1)).runs == []
