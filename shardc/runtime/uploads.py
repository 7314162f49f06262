"""Copies to a device: packed in host memory, so that only what is kept crosses, and placed on the device."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch

from shardc.runtime.arithmetic import round_up
from shardc.runtime.dealing import deal
from shardc.runtime.memory import ALIGNMENT, Memory
from shardc.runtime.rings import Ring
from shardc.runtime.streams import Stream
from shardc.runtime.strides import Block, row_major
from shardc.runtime.windows import Piece


class Uploader:
    """Takes pieces to one device, through the buffers of a ring."""

    def __init__(self, ring: Ring, stream: Stream) -> None:
        self.ring = ring
        self.stream = stream

    def deal(self, window: torch.Tensor, begin: int, pieces: Iterable[Piece]) -> None:
        """Makes copies out of a window, whose first byte is byte `begin` of the file."""
        with self.ring.slot() as slot:
            packed = pack(pieces, slot.memory)
            deal(window, begin, (host for _, host in packed))
            with self.stream.entered():
                for piece, host in packed:
                    place(piece, host)
            slot.waits.append(self.stream.mark())

    def read(self, piece: Piece, read: Callable[[torch.Tensor], object]) -> None:
        """Makes a copy of bytes that `read` puts right into a buffer."""
        with self.ring.slot() as slot:
            ((_, host),) = pack([piece], slot.memory)
            read(slot.memory.flat[: piece.nbytes])
            with self.stream.entered():
                place(piece, host)
            slot.waits.append(self.stream.mark())


def pack(pieces: Iterable[Piece], memory: Memory) -> list[tuple[Piece, Piece]]:
    """Each piece with the same one in a host buffer: one behind the other, contiguous, in the file's dtype."""
    packed = []
    at = 0
    for piece in pieces:
        compact = piece.copy._replace(target=Block(0, row_major(piece.copy.shape)))
        start = at // piece.dtype.itemsize
        packed.append((piece, piece._replace(copy=compact, start=start, memory=memory, cast=piece.dtype)))
        at += packed_bytes(piece)
    return packed


def packed_bytes(piece: Piece) -> int:
    """Bytes that a piece takes in a buffer."""
    return round_up(piece.copy.elements * piece.dtype.itemsize, ALIGNMENT)


def place(piece: Piece, host: Piece) -> None:
    """Copies a packed piece to where it goes. What is cast, or goes to parts of rows, crosses first, and as it is."""
    shape, _, target = piece.copy
    packed = host.memory.typed(piece.dtype).as_strided(shape, host.copy.target.strides, host.start)
    local = piece.memory.typed(piece.cast).as_strided(shape, target.strides, piece.start + target.offset)
    if piece.cast == piece.dtype and local.is_contiguous():
        local.copy_(packed, non_blocking=True)
    else:
        local.copy_(packed.to(local.device, non_blocking=True))
