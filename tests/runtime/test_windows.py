import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardc.runtime.pieces import Piece, pieces_of
from shardc.runtime.windows import is_large, taken_together, windows_of

from .copying import Drawn, drawn, rooms_with_noise, small_windows
from .samples import LIMITS, fill_of, pieces

MIB = 1 << 20


@pytest.mark.parametrize(("rows", "windows"), [(16383, 1), (16384, 2)])
def test_short_runs_are_not_worth_a_read_of_their_own(rows: int, windows: int) -> None:
    run, cast = fill_of((20000,), (((0, rows, 0),),)), fill_of((9,), (((0, 9, 0),),), load="BF16")
    assert len(windows_of([*pieces(run), *pieces(cast, 8 + 4 * rows)], LIMITS)) == windows


def test_columns_of_several_ranks_are_cut_at_the_same_rows() -> None:
    """Also where ranks have more or fewer columns, so that each row is read once."""
    widths = [(0, 100), (100, 1100), (1100, 2000)]
    columns = [fill_of((4000, 2000), (((0, 4000, 0),), ((low, high, 0),))) for low, high in widths]
    found = windows_of((piece for fill in columns for piece in pieces(fill)), LIMITS)
    assert [(window.begin - 8, window.end - 8) for window in found] == [
        (row * 8000, min(row + 524, 4000) * 8000) for row in range(0, 4000, 524)
    ]
    assert [len(window.pieces) for window in found] == [3] * 8
    assert not any(window.direct for window in found)


def test_what_two_ranks_keep_whole_is_read_once() -> None:
    whole = fill_of((2 * MIB,), (((0, 2 * MIB, 0),),))
    found = windows_of([*pieces(whole), *pieces(whole)], LIMITS)
    assert [(window.begin - 8, window.end - 8, len(window.pieces)) for window in found] == [
        (0, 4 * MIB, 2),
        (4 * MIB, 8 * MIB, 2),
    ]
    assert not found[0].direct
    assert found[0].nbytes == 8 * MIB


def small(begin: int, rows: int = 100) -> list[Piece]:
    return pieces(fill_of((rows,), (((0, rows, 0),),)), begin)


def test_small_pieces_near_each_other_are_read_together() -> None:
    found = windows_of([*small(400 + (16 << 10)), *small(0), *small(40000, 20000), *small(120000)], LIMITS)
    assert [(window.begin, window.end) for window in found] == [
        (0, 800 + (16 << 10)),
        (40000, 120000),
        (120000, 120400),
    ]
    assert [window.direct for window in found] == [False, True, False]


def test_large_pieces_that_follow_each_other_are_one_read() -> None:
    """Of a window's bytes at most, into so many parts of memory at most; a gap between them, or a small one, is none."""
    rows = [piece for start in range(0, 9 * MIB, MIB) for piece in small(start, MIB // 4)]
    found = windows_of([*rows, *small(9 * MIB, 100), *small(9 * MIB + 500, MIB // 4)], LIMITS)
    assert [(window.begin // MIB, len(window.pieces)) for window in found] == [(0, 4), (4, 4), (8, 1), (9, 1), (9, 1)]
    assert [window.direct for window in found] == [True, True, True, False, True]
    assert [len(window.pieces) for window in windows_of(rows, LIMITS._replace(parts=3))] == [3, 3, 3]


def test_small_runs_that_follow_each_other_are_one_read_too() -> None:
    """Of a page each on average, into so many parts of memory at most."""
    assert [window.direct for window in windows_of(small(0, 1024), LIMITS)] == [True]
    assert [window.direct for window in windows_of(small(0, 1023), LIMITS)] == [False]
    assert [window.direct for window in windows_of([*small(0, 1), *small(4, 2047)], LIMITS)] == [True]
    assert [window.direct for window in windows_of([*small(0, 1024), *small(4100, 1025)], LIMITS)] == [False]
    [window] = windows_of((piece for k in range(65) for piece in small(4096 * k, 1024)), LIMITS)
    assert (len(window.pieces), window.direct) == (65, False)


def test_a_gap_is_not_made_up_for_by_bytes_that_are_shared() -> None:
    """Two ranks keep the first tensor and one the next, as far behind it as it is long."""
    [window] = windows_of([*small(0, 1024), *small(0, 1024), *small(8192, 1024)], LIMITS)
    assert (window.begin, window.end, window.direct) == (0, 3 * 4096, False)


def test_windows_that_are_taken_together() -> None:
    windows = windows_of((piece for k in (0, 1, 3, 4, 5, 9) for piece in small(k * MIB, MIB // 8)), LIMITS)
    for span, found in ((0, [1] * 6), (2 * MIB, [2, 2, 1, 1]), (5 * MIB, [4, 2]), (16 * MIB, [6])):
        left = list(windows)
        together = list(taken_together(left, LIMITS._replace(span=span)))
        assert [len(those) for those in together] == found
        assert left == []
        assert [window for those in together for window in those] == windows


def test_small_pieces_far_from_each_other_are_not() -> None:
    assert len(windows_of([*small(0), *small(401 + (16 << 10))], LIMITS)) == 2


def test_no_pieces() -> None:
    assert windows_of([], LIMITS) == []
    assert pieces(fill_of((0, 4), ((), ((0, 4, 0),)))) == []
    assert pieces(fill_of((4,), (((0, 0, 4),),))) == []


@given(drawn(), st.sampled_from([8, 16, 64, 512]), st.sampled_from([1, 8, 32]), st.sampled_from([0, 4, 32]))
def test_each_piece_is_in_one_window(drawn: Drawn, window: int, direct: int, gap: int) -> None:
    limits = small_windows(window, direct, gap)
    rooms, _ = rooms_with_noise(drawn)
    given = [
        piece
        for fills, own in zip(drawn.ranks, rooms, strict=True)
        for fill in fills
        for piece in pieces_of(fill, drawn.headers[fill.shard.name], own[fill.buffer.name], limits)
    ]
    found = windows_of(given, limits)
    assert sorted(id(piece) for one in found for piece in one.pieces) == sorted(map(id, given))
    assert [one.begin for one in found] == sorted(one.begin for one in found)
    for one in found:
        assert one.begin == min(piece.begin for piece in one.pieces)
        assert one.end == max(piece.end for piece in one.pieces)
        assert one.end - one.begin <= 2 * window
        if one.direct:
            assert all(piece.plain for piece in one.pieces)
            assert [piece.begin for piece in one.pieces] == [one.begin, *(piece.end for piece in one.pieces[:-1])]
            assert one.end - one.begin >= limits.part * len(one.pieces)
        for piece in one.pieces:
            others = [other for other in one.pieces if other is not piece]
            shared = any(other.begin < piece.end and piece.begin < other.end for other in others)
            assert shared or one.direct or not is_large(piece, limits)
