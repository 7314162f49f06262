"""A file in windows: what is read of it at once, and the copies that are made of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

import torch

from shardc.runtime.dtypes import TORCH_DTYPES
from shardc.runtime.headers import Header
from shardc.runtime.memory import Memory, Room
from shardc.runtime.placing import Fill, Placing, filling
from shardc.runtime.regions import Spans
from shardc.runtime.strides import Block, Copy, collapsed, reach, row_major


class Limits(NamedTuple):
    """How a kind of file is read, in bytes.

    window: at once; twice that where copies share bytes. direct: next to each other, from which they are read right to
    where they stay. parts: of memory that one such read fills. gap: between two copies that are sooner read than left
    out; spare: all gaps of a window that are, where they are more than half of it. row_gap: between the rows of one
    copy that are. threads: how many read; None: by what the page cache has. buffers: of a window, at most, for all
    threads together.
    """

    window: int
    direct: int
    parts: int
    gap: int
    spare: int
    row_gap: int
    threads: int | None
    buffers: int


KIB, MIB = 1 << 10, 1 << 20  # bytes
LOCAL = Limits(
    window=8 * MIB,
    direct=64 * KIB,
    parts=64,
    gap=16 * KIB,
    spare=8 * MIB,
    row_gap=8 * MIB,
    threads=None,
    buffers=4,
)
REMOTE = Limits(
    window=8 * MIB,
    direct=8 * MIB,
    parts=64,
    gap=1 * MIB,
    spare=256 * KIB,
    row_gap=1 * MIB,
    threads=16,
    buffers=16,
)


class Piece(NamedTuple):
    """A copy out of one window. begin, end: the bytes of the file that it spans, in which its source counts from 0.

    name: the file's tensor. memory: where it goes; the target counts from element `start`. dtype: in the file. cast: in
    memory. direct: the file's bytes are what is kept, next to each other, and worth a read of their own.
    """

    begin: int
    end: int
    name: str
    copy: Copy
    start: int
    memory: Memory
    dtype: torch.dtype
    cast: torch.dtype
    direct: bool

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


class Window(NamedTuple):
    """Bytes begin .. end of a file, and what is copied of them."""

    begin: int
    end: int
    pieces: tuple[Piece, ...]

    @property
    def direct(self) -> bool:
        """True where the copies are a read: each is next to each other, and they follow one another in the file."""
        if not all(piece.direct for piece in self.pieces):
            return False
        return sum(piece.end - piece.begin for piece in self.pieces) == self.end - self.begin

    @property
    def nbytes(self) -> int:
        """Bytes that it fills in memory."""
        return sum(piece.nbytes for piece in self.pieces)


def pieces_of(fill: Fill, header: Header, room: Room, limits: Limits) -> Iterator[Piece]:
    """The copies of a shard, each of a window at most."""
    shard = fill.shard
    dtype, cast = TORCH_DTYPES[shard.dtype], TORCH_DTYPES[shard.local_dtype]
    start = room.offset // cast.itemsize
    for begin, end, copy in cuts_of(shard.shape, shard.at, fill.placing, dtype.itemsize, limits):
        direct = dtype == cast and end - begin >= limits.direct and copy.contiguous
        first, last = header.begin + begin, header.begin + end
        yield Piece(first, last, shard.name, copy, start, room.memory, dtype, cast, direct)


@lru_cache(maxsize=4096)
def cuts_of(
    shape: tuple[int, ...], at: tuple[Spans, ...], placing: Placing, itemsize: int, limits: Limits
) -> tuple[tuple[int, int, Copy], ...]:
    """(first byte, byte after the last, copy) of every copy of a window at most, counted from the full tensor's start.

    Its source counts from that first byte.
    """
    found = []
    for whole in filling(at, row_major(shape), placing).copies:
        for copy in cut_copy(whole, limits.window // itemsize, limits.row_gap // itemsize):
            begin = copy.source.offset * itemsize
            end = begin + reach(copy.shape, copy.source.strides) * itemsize
            found.append((begin, end, copy._replace(source=Block(0, copy.source.strides))))
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


def windows_of(pieces: Iterable[Piece], limits: Limits) -> list[Window]:
    """The windows of one file, in the order of their bytes. Pieces that share bytes are in one window.

    Small pieces that lie near each other are too.
    """
    windows: list[Window] = []
    together: list[Piece] = []
    end = gaps = 0
    for piece in sorted(pieces, key=itemgetter(0, 1)):
        gaps += max(piece.begin - end, 0)
        if together and not joins(together, end, gaps, piece, limits):
            windows.append(Window(together[0].begin, end, tuple(together)))
            together = []
        if not together:
            end = gaps = 0
        end = max(end, piece.end)
        together.append(piece)
    if together:
        windows.append(Window(together[0].begin, end, tuple(together)))
    return in_one_read(windows, limits)


def in_one_read(windows: Iterable[Window], limits: Limits) -> list[Window]:
    """The same windows, those that are reads and follow one another as one: of several ranks, each gets its part."""
    found: list[Window] = []
    for window in windows:
        if found and reads_on(found[-1], window, limits):
            begin, _, pieces = found.pop()
            window = Window(begin, window.end, (*pieces, *window.pieces))
        found.append(window)
    return found


def reads_on(one: Window, other: Window, limits: Limits) -> bool:
    """Whether two windows are reads of which the other begins where the one ends, and are within the limits as one."""
    adjacent = one.end == other.begin and other.end - one.begin <= limits.window and len(one.pieces) < limits.parts
    return adjacent and one.direct and other.direct


def joins(together: list[Piece], end: int, gaps: int, piece: Piece, limits: Limits) -> bool:
    """Whether the next piece of a file goes with those before it, which end at byte `end`.

    gaps: bytes of the window that no piece would have.
    """
    length = max(end, piece.end) - together[0].begin
    if piece.begin < end:
        return length <= 2 * limits.window
    near = piece.begin - end <= limits.gap and gaps <= max(limits.spare, length - gaps)
    return near and length <= limits.window and not piece.direct and not together[-1].direct
