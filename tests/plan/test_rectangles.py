"""Zero fill: with the real rows it tiles a local tensor exactly."""

from __future__ import annotations

import numpy as np

from shardc.layout.regions import Regions, local_size
from shardc.plan.rectangles import real_rows, zero_fill, zero_rows


def test_padding_after_each_half() -> None:
    rows: Regions = ((11, 22, 1), (33, 44, 1))
    assert real_rows(rows) == [(0, 11), (12, 23)]
    assert zero_rows(rows) == [(11, 12), (23, 24)]
    assert zero_fill((rows, ((0, 2, 0),))) == [((11, 12), (0, 2)), ((23, 24), (0, 2))]


def test_a_rank_that_is_all_padding() -> None:
    assert real_rows(((0, 0, 8),)) == []
    assert zero_fill((((0, 4, 0),), ((0, 0, 8),))) == [((0, 4), (0, 8))]


def test_nothing_is_padded() -> None:
    assert zero_fill((((0, 4, 0),), ((4, 8, 0),))) == []
    assert zero_fill(()) == []


def test_padding_in_two_dims_is_tiled_without_overlap() -> None:
    at: tuple[Regions, ...] = (((0, 2, 1), (5, 6, 2)), ((3, 7, 2),))
    written = np.zeros([local_size(dim) for dim in at], int)
    for rectangle in zero_fill(at):
        written[tuple(slice(*span) for span in rectangle)] += 1
    for rows in real_rows(at[0]):
        for columns in real_rows(at[1]):
            written[slice(*rows), slice(*columns)] += 1
    assert (written == 1).all()
