"""Pieces and windows made by hand."""

import torch

from shardc.runtime.buffers import Buffer
from shardc.runtime.headers import Header
from shardc.runtime.limits import LOCAL
from shardc.runtime.memory import Memory, Room, host_memory
from shardc.runtime.pieces import Piece, pieces_of
from shardc.runtime.placing import Fill, Placing
from shardc.runtime.regions import Spans
from shardc.runtime.shards import Layout, Shard
from shardc.runtime.strides import Block, Copy
from shardc.runtime.windows import Window, window_of

MIB = 1 << 20
LIMITS = LOCAL._replace(window=4 * MIB, spare=4 * MIB, row_gap=4 * MIB)


def fill_of(shape: tuple[int, ...], at: tuple[Spans, ...], dtype: str = "F32", load: str | None = None) -> Fill:
    shard = Shard("w", Layout("", "dense", dtype, (dtype,), load, shape, at))
    return Fill(shard, Buffer("w", shard.local_dtype, shard.local_shape), Placing(shard.local_shape))


def pieces(fill: Fill, begin: int = 8) -> list[Piece]:
    room = Room(fill.buffer, host_memory(64), 0)  # nothing is copied
    return list(pieces_of(fill, Header(fill.shard.dtype, fill.shard.shape, "f", begin), room, LIMITS))


def piece(begin: int, end: int, memory: Memory, at: int = 0, name: str = "w") -> Piece:
    copy = Copy((end - begin,), Block(0, (1,)), Block(0, (1,)))
    return Piece(begin, end, name, copy, at, memory, torch.uint8, torch.uint8, plain=True)


def window(*pieces: Piece) -> Window:
    return window_of(pieces, max(each.end for each in pieces), LOCAL)
