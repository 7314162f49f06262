import torch
from hypothesis import given
from hypothesis import strategies as st

from shardc.runtime.buffers import Buffer
from shardc.runtime.headers import Header
from shardc.runtime.memory import Room, host_memory
from shardc.runtime.pieces import cut_copy, pieces_of
from shardc.runtime.strides import Block, Copy, collapsed, reach

from .copying import copies, pairs
from .samples import LIMITS, fill_of, pieces

MIB = 1 << 20


def test_rows_are_cut_at_whole_windows() -> None:
    found = pieces(fill_of((3 * MIB,), (((MIB // 2, 3 * MIB, 0),),)))
    assert [(piece.begin - 8, piece.end - 8) for piece in found] == [
        (2 * MIB, 6 * MIB),
        (6 * MIB, 10 * MIB),
        (10 * MIB, 12 * MIB),
    ]
    assert [piece.copy.target.offset for piece in found] == [0, MIB, 2 * MIB]
    assert all(piece.plain for piece in found)
    assert [piece.nbytes for piece in found] == [4 * MIB, 4 * MIB, 2 * MIB]


def test_what_is_cast_is_not_read_where_it_stays() -> None:
    [piece] = pieces(fill_of((20000,), (((0, 20000, 0),),), load="BF16"))
    assert (piece.plain, piece.nbytes, piece.end - piece.begin) == (False, 40000, 80000)


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
