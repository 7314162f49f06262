"""Copies to a device: packed in host memory, so that only what is kept crosses, and placed on the device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from shardc.runtime.arithmetic import round_up
from shardc.runtime.dealing import deal
from shardc.runtime.memory import ALIGNMENT, Memory
from shardc.runtime.pieces import Piece
from shardc.runtime.rings import Ring, Slot
from shardc.runtime.streams import Stream
from shardc.runtime.strides import Block, Copy, row_major


class Uploader:
    """Takes pieces to one device, through the buffers of a ring."""

    def __init__(self, ring: Ring, stream: Stream) -> None:
        self.ring = ring
        self.stream = stream

    def deal(self, source: Memory, origin: int, pieces: Sequence[Piece]) -> None:
        """Makes copies out of host memory, whose first byte is byte `origin` of the file: all cross at once."""
        with self.ring.slot() as slot:
            into, out = pack(pieces, slot.memory)
            deal(source, origin, into)
            packed, device = slot.memory.flat[: out[-1].end], out[0].memory.flat.device
            with self.queued(slot):
                deal(Memory(packed.to(device, non_blocking=self.stream.non_blocking)), 0, out)

    def read(self, piece: Piece, read: Callable[[list[memoryview]], object]) -> None:
        """Makes a contiguous copy of bytes that `read` puts right into a buffer."""
        begin, end = piece.place
        with self.ring.slot() as slot:
            read([slot.memory.bytes[: end - begin]])
            with self.queued(slot):
                buffer = slot.memory.flat[: end - begin]
                piece.memory.flat[begin:end].copy_(buffer, non_blocking=self.stream.non_blocking)

    @contextmanager
    def queued(self, slot: Slot) -> Iterator[None]:
        """Copies that are begun inside, out of a buffer, are waited for before it is filled again."""
        try:
            with self.stream.entered():
                yield
        finally:
            slot.waits.append(self.stream.mark())


def pack(pieces: Sequence[Piece], buffer: Memory) -> tuple[list[Piece], list[Piece]]:
    """The copies into a buffer, one piece behind the other, contiguous and in the file's dtype, and those out of it."""
    into, out = [], []
    at = 0
    for piece in pieces:
        shape, source, target = piece.copy
        packed = Block(0, row_major(shape))
        start, end = at // piece.dtype.itemsize, at + piece.copy.elements * piece.dtype.itemsize
        into.append(piece._replace(copy=Copy(shape, source, packed), start=start, memory=buffer, cast=piece.dtype))
        out.append(piece._replace(begin=at, end=end, copy=Copy(shape, packed, target)))
        at += packed_bytes(piece)
    return into, out


def packed_bytes(piece: Piece) -> int:
    """Bytes that a piece takes in a buffer."""
    return round_up(piece.copy.elements * piece.dtype.itemsize, ALIGNMENT)
