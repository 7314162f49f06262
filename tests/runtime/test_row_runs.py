import torch
from hypothesis import given
from hypothesis import strategies as st

from shardc.runtime.moves import Move, rows_interleaved, rows_kept
from shardc.runtime.row_runs import RowRuns, chunk_of, in_words, merged_rows, moved_runs, rows_in

RUNS: RowRuns = (("q", 0, 4), (None, 0, 2), ("k", 8, 10))


def test_neighbours_are_one_run() -> None:
    assert merged_rows([("", 0, 4), ("", 4, 6), ("", 7, 7), ("", 8, 9)]) == (("", 0, 6), ("", 8, 9))
    assert merged_rows([("q", 0, 4), ("k", 4, 6)]) == (("q", 0, 4), ("k", 4, 6))


def test_zeros_are_one_run_whatever_they_are_numbered() -> None:
    assert merged_rows([(None, 3, 5), (None, 0, 0), (None, 9, 10)]) == ((None, 0, 3),)


def test_rows() -> None:
    assert rows_in(RUNS) == 8
    assert rows_in(()) == 0


def test_chunks_cross_runs() -> None:
    assert [chunk_of(RUNS, index, 3) for index in range(3)] == [
        (("q", 0, 3),),
        (("q", 3, 4), (None, 0, 2)),
        (("k", 8, 10),),
    ]


@given(st.integers(0, 20), st.integers(1, 7))
def test_chunks_are_those_of_torch(size: int, number: int) -> None:
    parts = [(int(part[0]), int(part[-1]) + 1) for part in torch.arange(size).chunk(number)] if size else []
    expected = [(("", *part),) for part in parts] + [()] * (number - len(parts))
    assert [chunk_of((("", 0, size),), index, number) for index in range(number)] == expected


def test_in_words() -> None:
    assert in_words(RUNS) == "q 0..4 and 2 of zero and k 8..10"
    assert in_words((("", 0, 1), ("", 2, 3), ("", 4, 5), ("", 6, 7), ("", 8, 9))) == "0..1 and 2..3 and 4..5 and 2 more"
    assert in_words(()) == "nothing"


def test_rows_that_are_kept() -> None:
    assert moved_runs(rows_kept(3, 10), ((4, 6, 1),), "a") == ((10, ("a", 4, 6)), (12, (None, 0, 1)))


def test_rows_that_are_interleaved() -> None:
    first, second = rows_interleaved([4, 2], 2)
    assert moved_runs(first, ((8, 12, 0),), "a") == ((0, ("a", 8, 10)), (3, ("a", 10, 12)))
    assert moved_runs(second, ((4, 6, 0),), "b") == ((2, ("b", 4, 5)), (5, ("b", 5, 6)))


def test_rows_that_change_places() -> None:
    turned = (Move(0, 0, 1, 4, 4, (2, 2), (2, 1), (1, 2)),)
    assert merged_rows(run for _, run in sorted(moved_runs(turned, ((0, 4, 0),), ""), key=lambda moved: moved[0])) == (
        ("", 0, 1),
        ("", 2, 3),
        ("", 1, 2),
        ("", 3, 4),
    )


def test_no_rows() -> None:
    first, _ = rows_interleaved([0, 2], 2)
    assert moved_runs(first, (), "a") == ()
