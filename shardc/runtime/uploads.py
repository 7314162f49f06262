"""Copies to a device: packed in host memory, so that only what is kept crosses, and placed on the device."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import torch

from shardc.runtime.arithmetic import round_up
from shardc.runtime.dealing import deal
from shardc.runtime.memory import ALIGNMENT, Memory
from shardc.runtime.rings import Ring, Slot
from shardc.runtime.streams import Stream
from shardc.runtime.strides import Block, Copy, row_major
from shardc.runtime.windows import Piece


class Uploader:
    """Takes pieces to one device, through the buffers of a ring."""

    def __init__(self, ring: Ring, stream: Stream) -> None:
        self.ring = ring
        self.stream = stream

    def deal(self, window: torch.Tensor, begin: int, pieces: Iterable[Piece]) -> None:
        """Makes copies out of a window, whose first byte is byte `begin` of the file: all cross at once."""
        with self.ring.slot() as slot:
            into, out = pack(pieces, slot.memory)
            deal(window, begin, into)
            packed, device = slot.memory.flat[: out[-1].end], out[0].memory.flat.device
            with self.queued(slot):
                deal(packed.to(device, non_blocking=self.stream.non_blocking), 0, out)

    def read(self, piece: Piece, read: Callable[[torch.Tensor], object]) -> None:
        """Makes a contiguous copy of bytes that `read` puts right into a buffer."""
        with self.ring.slot() as slot:
            buffer = slot.memory.flat[: piece.nbytes]
            read(buffer)
            with self.queued(slot):
                piece.place.copy_(buffer, non_blocking=self.stream.non_blocking)

    @contextmanager
    def queued(self, slot: Slot) -> Iterator[None]:
        """Copies that are begun inside, out of a buffer, are waited for before it is filled again."""
        try:
            with self.stream.entered():
                yield
        finally:
            slot.waits.append(self.stream.mark())


def pack(pieces: Iterable[Piece], buffer: Memory) -> tuple[list[Piece], list[Piece]]:
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
