import pytest
import torch

from shardc.runtime.rectangles import copy_rectangles, is_whole, zero_rectangles
from shardc.runtime.regions import Spans, local_size


def test_a_copy_for_each_product_of_regions() -> None:
    at = (((0, 2, 0), (4, 6, 0)), ((1, 3, 0),))
    assert copy_rectangles(at) == ((((0, 2), (1, 3)), ((0, 2), (0, 2))), (((4, 6), (1, 3)), ((2, 4), (0, 2))))


def test_a_scalar_is_one_copy() -> None:
    assert copy_rectangles(()) == (((), ()),)
    assert zero_rectangles(()) == ()


def test_nothing_is_copied_of_an_empty_tensor() -> None:
    assert copy_rectangles(((), ((0, 4, 0),))) == ()
    assert zero_rectangles(((), ((0, 4, 1),))) == ()


def test_zeros_between_the_halves() -> None:
    assert zero_rectangles((((11, 22, 1), (33, 44, 1)), ((0, 2, 0),))) == (((11, 12), (0, 2)), ((23, 24), (0, 2)))


def test_zeros_of_a_rank_that_is_all_padding() -> None:
    assert zero_rectangles((((0, 4, 0),), ((0, 0, 8),))) == (((0, 4), (0, 8)),)


@pytest.mark.parametrize(
    "at",
    [
        (((0, 3, 1),), ((0, 2, 2),)),
        (((0, 0, 2), (4, 6, 1)), ((1, 3, 1), (5, 6, 2)), ((0, 2, 1),)),
        (((0, 0, 2),), ((0, 0, 3),)),
        (((0, 4, 0),), ((0, 3, 0),)),
    ],
)
def test_copies_and_zeros_tile_the_local_tensor(at: tuple[Spans, ...]) -> None:
    written = torch.zeros([local_size(spans) for spans in at])
    for rectangle in (*zero_rectangles(at), *(place for _, place in copy_rectangles(at))):
        written[tuple(slice(*bounds) for bounds in rectangle)] += 1
    assert bool((written == 1).all())


def test_whole() -> None:
    assert is_whole((((0, 4, 0),), ((0, 2, 0),)), (4, 2))
    assert is_whole((((0, 4, 0),), ()), (4, 0))
    assert is_whole((), ())
    assert not is_whole((((0, 4, 1),),), (4,))
    assert not is_whole((((0, 3, 0),),), (4,))
