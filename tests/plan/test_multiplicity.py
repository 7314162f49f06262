"""How many ranks hold each row of a dim."""

from __future__ import annotations

from shardc.plan.multiplicity import multiplicity, rows_held


def test_an_even_cut_is_held_once() -> None:
    assert multiplicity([((0, 4, 0),), ((4, 8, 0),)], 8) == ((0, 8, 1),)


def test_replicas_are_counted() -> None:
    pairs = [((0, 4, 0),), ((0, 4, 0),), ((4, 8, 0),), ((4, 8, 0),)]
    assert multiplicity(pairs, 8) == ((0, 8, 2),)


def test_a_gap_counts_nobody_and_an_overlap_two() -> None:
    assert multiplicity([((0, 5, 0),), ((3, 4, 0), (6, 8, 0))], 8) == (
        (0, 3, 1),
        (3, 4, 2),
        (4, 5, 1),
        (5, 6, 0),
        (6, 8, 1),
    )


def test_padding_holds_no_row() -> None:
    assert multiplicity([((0, 3, 1),), ((0, 0, 4),)], 3) == ((0, 3, 1),)


def test_an_empty_dim() -> None:
    assert multiplicity([(), ()], 0) == ()


def test_rows_that_one_rank_alone_holds() -> None:
    runs = multiplicity([((0, 5, 0),), ((3, 8, 0),)], 8)
    assert rows_held(((0, 5, 0),), runs, 1) == 3
    assert rows_held(((0, 5, 0),), runs, 2) == 2
