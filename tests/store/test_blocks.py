"""Blocks tile a tensor in its order, and rectangles meet where they should."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardc.store.blocks import blocks, moved, overlap, shape_of

SHAPES = st.lists(st.integers(0, 6), max_size=4).map(tuple)


@given(shape=SHAPES, item=st.sampled_from([1, 2, 4, 8]), limit=st.integers(8, 200))
def test_blocks_are_runs_of_the_file(shape: tuple[int, ...], item: int, limit: int) -> None:
    every = list(product(*map(range, shape)))
    found = [place for block in blocks(shape, item, limit) for place in product(*(range(*ends) for ends in block))]
    assert found == every
    assert all(
        len(list(product(*(range(*ends) for ends in block)))) * item <= limit for block in blocks(shape, item, limit)
    )


@pytest.mark.parametrize(
    ("shape", "limit", "expected"),
    [
        ((), 8, [()]),
        ((5,), 8, [((0, 2),), ((2, 4),), ((4, 5),)]),
        ((2, 3), 24, [((0, 2), (0, 3))]),
        ((3, 3), 24, [((0, 2), (0, 3)), ((2, 3), (0, 3))]),
        ((2, 3), 8, [((0, 1), (0, 2)), ((0, 1), (2, 3)), ((1, 2), (0, 2)), ((1, 2), (2, 3))]),
        ((4, 0), 8, []),
    ],
)
def test_blocks(shape: tuple[int, ...], limit: int, expected: list[tuple[tuple[int, int], ...]]) -> None:
    assert list(blocks(shape, 4, limit)) == expected


def test_rectangles() -> None:
    assert overlap(((0, 4), (2, 8)), ((3, 9), (0, 3))) == ((3, 4), (2, 3))
    assert overlap(((0, 4),), ((4, 9),)) is None
    assert overlap((), ()) == ()
    assert moved(((3, 4), (2, 3)), ((3, 9), (0, 3)), ((13, 19), (100, 103))) == ((13, 14), (102, 103))
    assert shape_of(((3, 4), (2, 8))) == (1, 6)
