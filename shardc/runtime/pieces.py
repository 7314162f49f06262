"""The copies out of a file, each of a window at most."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import torch

from shardc.runtime.dtypes import TORCH_DTYPES
from shardc.runtime.headers import Header
from shardc.runtime.limits import Limits
from shardc.runtime.memory import Memory, Room
from shardc.runtime.placing import Fill, Placing, filling_of
from shardc.runtime.shards import Layout
from shardc.runtime.strides import Block, Copy, collapsed, reach


class Piece(NamedTuple):
    """A copy out of one window. begin, end: the bytes of the file that it spans, in which its source counts from 0.

    name: the file's tensor. memory: where it goes; the target counts from element `start`. dtype: in the file. cast: in
    memory. plain: the file's bytes are what is kept, next to each other.
    """

    begin: int
    end: int
    name: str
    copy: Copy
    start: int
    memory: Memory
    dtype: torch.dtype
    cast: torch.dtype
    plain: bool

    @property
    def nbytes(self) -> int:
        """Bytes that it fills in memory."""
        return self.copy.elements * self.cast.itemsize

    @property
    def place(self) -> tuple[int, int]:
        """The first byte of memory that it fills and the one after the last, where those are next to each other."""
        begin = (self.start + self.copy.target.offset) * self.cast.itemsize
        return begin, begin + self.nbytes

    @property
    def bytes(self) -> memoryview:
        """Those bytes, of host memory."""
        begin, end = self.place
        return self.memory.bytes[begin:end]


def pieces_of(fill: Fill, header: Header, room: Room, limits: Limits) -> list[Piece]:
    """The copies of a shard, each of a window at most."""
    (name, layout), _, placing = fill
    _, memory, offset = room
    at, dtype, cast = header.begin, TORCH_DTYPES[layout.dtype], TORCH_DTYPES[layout.local_dtype]
    start = offset // cast.itemsize
    return [
        Piece(at + begin, at + end, name, copy, start, memory, dtype, cast, plain)
        for begin, end, copy, plain in cuts_of(layout, placing, limits)
    ]


@lru_cache(maxsize=4096)
def cuts_of(layout: Layout, placing: Placing, limits: Limits) -> tuple[tuple[int, int, Copy, bool], ...]:
    """(first byte, byte after the last, copy, plain) of every copy of a window at most; see `Piece`.

    The bytes count from the full tensor's start, and the copy's source from the first of them.
    """
    found = []
    itemsize = TORCH_DTYPES[layout.dtype].itemsize
    for whole in filling_of(layout, placing).copies:
        for copy in cut_copy(whole, limits.window // itemsize, limits.row_gap // itemsize):
            begin = copy.source.offset * itemsize
            end = begin + reach(copy.shape, copy.source.strides) * itemsize
            plain = layout.dtype == layout.local_dtype and copy.contiguous
            found.append((begin, end, copy._replace(source=Block(0, copy.source.strides)), plain))
    return tuple(found)


def cut_copy(copy: Copy, limit: int, row_gap: int) -> Iterator[Copy]:
    """The same copy in parts that span at most `limit` elements of the source, cut along its widest stride.

    Rows are cut alike whatever of them is copied, so that those of several ranks are read together. Rows with more than
    `row_gap` elements between them are parts of their own.
    """
    strides = copy.source.strides
    dim = max(range(len(strides)), key=lambda each: (copy.shape[each] > 1, strides[each]))
    inner = reach((*copy.shape[:dim], 1, *copy.shape[dim + 1 :]), strides)
    apart = copy.shape[dim] > 1 and strides[dim] - inner > row_gap
    if reach(copy.shape, strides) <= limit and not apart:
        yield copy
        return
    rows = 1 if apart else max((limit - max(inner - strides[dim], 0)) // strides[dim], 1)
    for start in range(0, copy.shape[dim], rows):
        part = collapsed(rows_of(copy, dim, start, min(rows, copy.shape[dim] - start)))
        yield from cut_copy(part, limit, row_gap) if apart or inner > limit else (part,)


def rows_of(copy: Copy, dim: int, start: int, count: int) -> Copy:
    """Some rows of one dim of a copy."""
    (source, steps), (target, to) = copy.source, copy.target
    shape = (*copy.shape[:dim], count, *copy.shape[dim + 1 :])
    return Copy(shape, Block(source + start * steps[dim], steps), Block(target + start * to[dim], to))
