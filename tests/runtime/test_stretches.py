import pytest

from shardc.runtime.moves import Move, rows_interleaved
from shardc.runtime.stretches import Stretch, moved, stretches


def test_rows_go_where_they_are() -> None:
    assert stretches(((2, 6, 1), (9, 10, 0))) == [Stretch((4,), 2, (1,), 0, (1,)), Stretch((1,), 9, (1,), 5, (1,))]


def test_no_rows() -> None:
    assert stretches(()) == []
    assert stretches(((0, 0, 4),)) == []


def test_rows_kept_further_on() -> None:
    assert stretches(((4, 8, 0),), (Move(0, 10, 4),)) == [Stretch((4,), 4, (1,), 10, (1,))]


def test_interleaved_elements() -> None:
    """Rows 12 .. 24 of the file, 6 of each of two elements, after 1 row of another tensor each."""
    _, moves = rows_interleaved([2, 12], 2)
    assert stretches(((12, 24, 0),), moves) == [Stretch((2, 6), 12, (6, 1), 1, (7, 1))]


def test_elements_on_both_sides_of_padding() -> None:
    _, moves = rows_interleaved([4, 8], 4)
    assert stretches(((2, 4, 2), (10, 14, 0)), moves) == [
        Stretch((1, 2), 2, (2, 1), 1, (3, 1)),
        Stretch((2, 2), 10, (2, 1), 7, (3, 1)),
    ]


def test_two_moves_of_one_granule() -> None:
    moves = (Move(0, 0, 2, 8, 8, (2, 3), (3, 1), (1, 2)), Move(6, 6, 2, 8, 8, (2,), (1,), (1,)))
    assert list(moved(100, 8, 8, moves)) == [
        Stretch((1, 2, 3), 100, (8, 3, 1), 8, (8, 1, 2)),
        Stretch((1, 2), 106, (8, 1), 14, (8, 1)),
    ]


@pytest.mark.parametrize("rows", [0, 8])
def test_a_move_of_no_blocks(rows: int) -> None:
    assert list(moved(0, 0, rows, (Move(0, 0, 0, 4, 4, (4,), (1,), (1,)),))) == []
