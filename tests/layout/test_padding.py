"""Rows of zero: where a rank keeps them in a layout of several parts."""

from __future__ import annotations

import pytest

from shardc.layout.regions import Regions, local_size
from tests.layout.axes import axis, rows, scope


# inter: 5 over 2 ranks with `ceil`, so rank 0 keeps 0..3, and rank 1 keeps 3..5 and one of zero.
@pytest.mark.parametrize(
    ("layout", "first", "last"),
    [
        pytest.param("inter", ((0, 3, 0),), ((3, 5, 1),), id="alone"),
        pytest.param("inter * 4", ((0, 12, 0),), ((12, 20, 4),), id="scaled"),
        pytest.param("inter | inter", ((0, 3, 0), (5, 8, 0)), ((3, 5, 1), (8, 10, 1)), id="after each half"),
        pytest.param("inter | 2", ((0, 3, 0), (5, 7, 0)), ((3, 5, 1), (5, 7, 0)), id="before a whole segment"),
        pytest.param(
            "2 * (inter * 2)", ((0, 6, 0), (10, 16, 0)), ((6, 10, 2), (16, 20, 2)), id="in each block"
        ),
        pytest.param("inter * (2 | 1)", ((0, 9, 0),), ((9, 15, 3),), id="of all segments of an element"),
        pytest.param(
            "(inter | 1) * 2", ((0, 6, 0), (10, 12, 0)), ((6, 10, 2), (10, 12, 0)), id="segments, scaled"
        ),
    ],
)  # fmt: skip
def test_padding_inside_nested_layouts(layout: str, first: Regions, last: Regions) -> None:
    inter = axis("inter", 5, 2, if_uneven="ceil")
    assert rows(layout, scope(inter, rank={"tp": 0})) == first
    assert rows(layout, scope(inter, rank={"tp": 1})) == last


def test_a_rank_that_is_all_padding() -> None:
    """2 elements over 3 ranks with `ceil`: rank 2 has one of zero in each segment, joined in front."""
    here = scope(axis("inter", 2, 3, if_uneven="ceil"), rank={"tp": 2})
    assert rows("inter | inter", here) == ((0, 0, 2),)
    assert rows("inter | 4 | inter", here) == ((0, 0, 1), (2, 6, 1))


def test_padding_of_an_axis_inside_one_that_is_padded() -> None:
    """Rank (1, 1): experts 2..3 and one of zero, each of 2 elements of inter and one of zero."""
    experts, inter = axis("experts", 3, 2, over="ep", if_uneven="ceil"), axis("inter", 5, 2, if_uneven="ceil")
    here = scope(experts, inter, rank={"ep": 1, "tp": 1})
    assert rows("experts * (inter | 1)", here) == ((15, 17, 1), (17, 18, 4))
    assert local_size(rows("experts * (inter | 1)", here)) == 2 * (2 + 1 + 1)


def test_each_share_padded_to_a_tile() -> None:
    here = scope(axis("inter", 6, 2, pad_local_to=4), rank={"tp": 0})
    assert rows("inter | inter", here) == ((0, 3, 1), (6, 9, 1))
