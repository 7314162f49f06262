"""Runs of rows: where the members of an output go, and what of them is in the file."""

from __future__ import annotations

import pytest

from shardc.layout.parse import parse
from shardc.layout.permutation import permutation
from shardc.layout.regions import Scope
from shardc.layout.split import Dealing, deal
from shardc.plan.row_moves import MAX_GRANULE, Move, OutputError, Placed, Rows, interleaved, kept, permuted, placed

SCOPE = Scope({"n": 512, "wide": MAX_GRANULE}, {"heads": deal("heads", 4, "tp", 2, Dealing())}, {"tp": 1})


def moves(origin: str, to: str, unit: int = 1, place: int = 0) -> list[Move]:
    return permuted(permutation(parse(origin), parse(to), {"heads"}), SCOPE, unit, place)


def test_rows_as_they_are() -> None:
    assert kept(6, 4) == [Move(Rows(0, 6), Rows(4, 6))]


def test_rows_of_each_element() -> None:
    """Two rows of the one and three of the other make blocks of five."""
    assert interleaved([8, 12], 4) == [
        [Move(Rows(0, 2, 4, 2), Rows(0, 2, 4, 5))],
        [Move(Rows(0, 3, 4, 3), Rows(2, 3, 4, 5))],
    ]


def test_permuted_rows() -> None:
    assert moves("heads * 2 * 3", "heads * 3 * 2", place=10) == [
        Move(Rows(0, 1, 2, 6), Rows(10, 1, 2, 6)),
        Move(Rows(3, 1, 2, 6), Rows(11, 1, 2, 6)),
        Move(Rows(1, 1, 2, 6), Rows(12, 1, 2, 6)),
        Move(Rows(4, 1, 2, 6), Rows(13, 1, 2, 6)),
        Move(Rows(2, 1, 2, 6), Rows(14, 1, 2, 6)),
        Move(Rows(5, 1, 2, 6), Rows(15, 1, 2, 6)),
    ]


def test_segments_that_change_places() -> None:
    assert moves("heads * (2 | 3) | 4", "heads * (3 | 2) | 4") == [
        Move(Rows(2, 3, 2, 5), Rows(0, 3, 2, 5)),
        Move(Rows(0, 2, 2, 5), Rows(3, 2, 2, 5)),
        Move(Rows(10, 4), Rows(10, 4)),
    ]


def test_permuted_units() -> None:
    assert moves("heads * (n | 128)", "heads * (128 | n)", unit=128) == [
        Move(Rows(4, 1, 2, 5), Rows(0, 1, 2, 5)),
        Move(Rows(0, 4, 2, 5), Rows(1, 4, 2, 5)),
    ]


@pytest.mark.parametrize(
    ("origin", "to", "rows"),
    [
        ("heads * 2 * 128", "heads * 128 * 2", 1),
        ("heads * 128 * (n / 256)", "heads * (n / 256) * 128", 1),
        ("heads * (64 | 192)", "heads * (192 | 64)", 64),
        ("heads * 2 * 64 * 3", "heads * 64 * 3 * 2", 1),
        ("heads * 3 * 2 * 64", "heads * 2 * 3 * 64", 64),
        ("heads * 33 * 2", "heads * 2 * 33", 66),
        ("heads * (128 | 64) | 100", "heads * (64 | 128) | 100", 192),
    ],
)
def test_parts_of_units(origin: str, to: str, rows: int) -> None:
    with pytest.raises(OutputError) as refused:
        moves(origin, to, unit=128)
    message = f"rows are permuted {rows} at a time, inside a unit of 128"
    assert (refused.value.code, refused.value.message) == ("SHD212", message)


def test_a_granule_has_so_many_rows_at_most() -> None:
    assert len(moves("2 * (wide / 2)", "(wide / 2) * 2")) == MAX_GRANULE
    with pytest.raises(OutputError) as refused:
        moves("2 * wide", "wide * 2")
    assert (refused.value.code, refused.value.message) == (
        "SHD230",
        "a granule of 8192 rows is permuted; at most 4096 are",
    )


def test_rows_of_the_file() -> None:
    """Local rows 0 .. 9 are 10 .. 14, a row of zeros, 20 .. 23 and another."""
    regions = ((10, 14, 1), (20, 23, 1))
    assert list(placed(Move(Rows(0, 9), Rows(100, 9)), regions)) == [
        Placed(Rows(10, 4), Rows(100, 4)),
        Placed(None, Rows(104, 1)),
        Placed(Rows(20, 3), Rows(105, 3)),
        Placed(None, Rows(108, 1)),
    ]


def test_runs_of_rows_of_the_file() -> None:
    """Granules of two rows: two from 10, one of zeros, one from 30. The second row of each."""
    regions = ((10, 14, 2), (30, 32, 0))
    assert list(placed(Move(Rows(1, 1, 4, 2), Rows(0, 1, 4, 5)), regions)) == [
        Placed(Rows(11, 1, 2, 2), Rows(0, 1, 2, 5)),
        Placed(None, Rows(10, 1, 1, 5)),
        Placed(Rows(31, 1, 1, 2), Rows(15, 1, 1, 5)),
    ]


def test_no_rows() -> None:
    assert list(placed(Move(Rows(0, 0, 3, 0), Rows(0, 0, 3, 4)), ((0, 0, 3),))) == []
    assert list(placed(Move(Rows(0, 0), Rows(0, 0)), ())) == []
