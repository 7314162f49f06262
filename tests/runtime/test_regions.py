import pytest

from shardc.runtime import MeshDim, Region, local_size, normalise, pieces, rank0
from shardc.runtime.regions import pads, whole_dim


@pytest.mark.parametrize(
    ("regions", "expected"),
    [
        ([(0, 4)], ((0, 4, 0),)),
        ([(0, 4), (4, 6)], ((0, 6, 0),)),
        ([(0, 4), (4, 6, 1)], ((0, 6, 1),)),
        ([(0, 4, 1), (4, 6)], ((0, 4, 1), (4, 6, 0))),
        ([(0, 4), (8, 12)], ((0, 4, 0), (8, 12, 0))),
        ([(8, 12), (0, 4)], ((8, 12, 0), (0, 4, 0))),
        ([(5, 5), (7, 7, 0)], ()),
        ([(0, 4), (9, 9), (4, 6)], ((0, 6, 0),)),
        ([(0, 4, 1), (9, 9, 2)], ((0, 4, 3),)),
        ([(9, 9, 2)], ((0, 0, 2),)),
        ([(9, 9, 2), (9, 9, 1), (0, 4)], ((0, 0, 3), (0, 4, 0))),
    ],
)
def test_normalise(regions: list[Region], expected: tuple[tuple[int, int, int], ...]) -> None:
    assert normalise(regions) == expected


def test_sizes_pieces_and_pads() -> None:
    spans = ((0, 0, 2), (11, 22, 1), (33, 44, 3))
    assert local_size(spans) == 28
    assert pieces(spans) == [(11, 22, 2), (33, 44, 14)]
    assert pads(spans) == [(0, 2), (13, 14), (25, 28)]


def test_a_whole_dim() -> None:
    assert whole_dim(8) == ((0, 8, 0),)
    assert whole_dim(0) == ()


def test_rank0() -> None:
    assert rank0(MeshDim("tp", 0, 4), 8) == ((0, 8),)
    assert rank0(MeshDim("tp", 3, 4), 8) == ((0, 0, 8),)
