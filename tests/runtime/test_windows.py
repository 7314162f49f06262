import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from shardc.runtime.buffers import Buffer
from shardc.runtime.headers import Header
from shardc.runtime.memory import Room, host_memory
from shardc.runtime.placing import Fill, Placing
from shardc.runtime.regions import Spans
from shardc.runtime.shards import Shard
from shardc.runtime.strides import Block, Copy, collapsed, reach
from shardc.runtime.windows import LOCAL, Piece, cut_copy, pieces_of, windows_of

from .copying import Drawn, copies, drawn, pairs, rooms_with_noise, small_windows

MIB = 1 << 20
LIMITS = LOCAL._replace(window=4 * MIB, spare=4 * MIB, row_gap=4 * MIB)


def fill_of(shape: tuple[int, ...], at: tuple[Spans, ...], dtype: str = "F32", load: str | None = None) -> Fill:
    shard = Shard("w", "", "dense", dtype, (dtype,), load, shape, at)
    return Fill(shard, Buffer("w", shard.local_dtype, shard.local_shape), Placing(shard.local_shape))


def pieces(fill: Fill, begin: int = 8) -> list[Piece]:
    room = Room(fill.buffer, host_memory(64), 0)  # nothing is copied
    return list(pieces_of(fill, Header(fill.shard.dtype, fill.shard.shape, "f", begin), room, LIMITS))


def test_rows_are_cut_at_whole_windows() -> None:
    found = pieces(fill_of((3 * MIB,), (((MIB // 2, 3 * MIB, 0),),)))
    assert [(piece.begin - 8, piece.end - 8) for piece in found] == [
        (2 * MIB, 6 * MIB),
        (6 * MIB, 10 * MIB),
        (10 * MIB, 12 * MIB),
    ]
    assert [piece.copy.target.offset for piece in found] == [0, MIB, 2 * MIB]
    assert all(piece.direct for piece in found)
    assert [piece.nbytes for piece in found] == [4 * MIB, 4 * MIB, 2 * MIB]


@pytest.mark.parametrize(("rows", "direct"), [(16383, False), (16384, True)])
def test_short_runs_are_not_worth_a_read_of_their_own(rows: int, direct: bool) -> None:
    [piece] = pieces(fill_of((20000,), (((0, rows, 0),),)))
    assert piece.direct == direct


def test_what_is_cast_is_not_read_where_it_stays() -> None:
    [piece] = pieces(fill_of((20000,), (((0, 20000, 0),),), load="BF16"))
    assert (piece.direct, piece.nbytes, piece.end - piece.begin) == (False, 40000, 80000)


def test_cols() -> None:
    first, second = pieces(fill_of((1024, 2048), (((0, 1024, 0),), ((512, 1024, 0),))))
    assert first.copy == Copy((512, 512), Block(0, (2048, 1)), Block(0, (512, 1)))
    assert (first.begin, first.end) == (8 + 2048, 8 + 511 * 8192 + 4096)
    assert (second.begin, second.end) == (8 + 512 * 8192 + 2048, 8 + 1023 * 8192 + 4096)
    assert second.copy.target.offset == 512 * 512


def test_a_row_of_more_than_a_window() -> None:
    found = pieces(fill_of((2, 3 * MIB), (((0, 2, 0),), ((0, 2 * MIB, 0),))))
    assert [piece.begin - 8 for piece in found] == [0, 4 * MIB, 12 * MIB, 16 * MIB]
    assert [piece.copy for piece in found] == [
        Copy((MIB,), Block(0, (1,)), Block(place * MIB, (1,))) for place in range(4)
    ]


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


def test_small_pieces_far_from_each_other_are_not() -> None:
    assert len(windows_of([*small(0), *small(401 + (16 << 10))], LIMITS)) == 2


def test_no_pieces() -> None:
    assert windows_of([], LIMITS) == []
    assert pieces(fill_of((0, 4), ((), ((0, 4, 0),)))) == []
    assert pieces(fill_of((4,), (((0, 0, 4),),))) == []


def test_a_scalar() -> None:
    [piece] = pieces(fill_of((), ()))
    assert (piece.begin, piece.end, piece.copy) == (8, 12, Copy((1,), Block(0, (1,)), Block(0, (1,))))


def test_the_bytes_that_a_piece_fills() -> None:
    memory = host_memory(256)
    memory.flat.copy_(torch.arange(256))
    [piece] = pieces_of(
        fill_of((8,), (((2, 4, 0),),)), Header("F32", (8,), "f", 8), Room(Buffer("w", "F32", (2,)), memory, 64), LIMITS
    )
    assert piece.place == (64, 72)
    assert list(piece.bytes) == [64, 65, 66, 67, 68, 69, 70, 71]


@given(copies(), st.integers(1, 40))
def test_parts_tile_a_copy(copy: Copy, limit: int) -> None:
    parts = list(cut_copy(collapsed(copy), limit, limit))
    assert sorted(pair for part in parts for pair in pairs(part)) == sorted(pairs(copy))
    assert all(reach(part.shape, part.source.strides) <= limit for part in parts)


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
        for piece in one.pieces:
            others = [other for other in one.pieces if other is not piece]
            shared = any(other.begin < piece.end and piece.begin < other.end for other in others)
            assert shared or one.direct == piece.direct
