"""Memory for local tensors: one slab on huge pages for all of a rank, or a piece for each of them."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property
from itertools import accumulate
from math import prod
from typing import NamedTuple

import torch

from shardc.runtime.arithmetic import round_up
from shardc.runtime.buffers import Buffer
from shardc.runtime.dtypes import TORCH_DTYPES, nbytes

ALIGNMENT = 64  # bytes: each local tensor begins at a multiple of it
HUGE_PAGE = 2 << 20  # bytes


class Memory:
    """Bytes on one device. flat: all of them, U8. pages: what host memory lies in, from byte `skip` on, if known."""

    def __init__(self, flat: torch.Tensor, pages: mmap.mmap | bytearray | None = None, skip: int = 0) -> None:
        self.flat = flat
        self.pages = pages
        self.skip = skip
        self.views: dict[torch.dtype, torch.Tensor] = {torch.uint8: flat}

    def typed(self, dtype: torch.dtype) -> torch.Tensor:
        """All bytes as elements of a dtype, without those at the end that make no element."""
        if dtype not in self.views:
            count = self.flat.numel()
            self.views[dtype] = self.flat[: count - count % dtype.itemsize].view(dtype)
        return self.views[dtype]

    @cached_property
    def bytes(self) -> memoryview:
        """All bytes, of host memory, to be written to. Where their pages are not known, it does not keep them alive."""
        if self.pages is None:
            return memoryview((ctypes.c_ubyte * self.flat.nbytes).from_address(self.flat.data_ptr())).cast("B")
        return memoryview(self.pages)[self.skip : self.skip + self.flat.nbytes]

    def tensor(self, offset: int, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        """The contiguous tensor at a byte. On the host its storage is just its bytes, on a device those of all."""
        elements = prod(shape)
        if elements == 0:
            return torch.empty(shape, dtype=dtype, device=self.flat.device)
        if self.pages is not None:
            return torch.frombuffer(self.pages, dtype=dtype, count=elements, offset=self.skip + offset).view(shape)
        return self.flat[offset : offset + elements * dtype.itemsize].view(dtype).view(shape)


class Room(NamedTuple):
    """Where a local tensor lies: from a byte of a memory."""

    buffer: Buffer
    memory: Memory
    offset: int

    def tensor(self) -> torch.Tensor:
        """The local tensor."""
        return self.memory.tensor(self.offset, self.buffer.shape, TORCH_DTYPES[self.buffer.dtype])


def host_memory(size: int) -> Memory:
    """Fresh host memory of some bytes, which begins at a multiple of 64; that of a huge page or more, at one."""
    if size == 0:
        return Memory(torch.empty(0, dtype=torch.uint8))
    alignment = HUGE_PAGE if size >= HUGE_PAGE else ALIGNMENT
    pages = mapped_pages(size + alignment) if size >= HUGE_PAGE else bytearray(size + alignment)
    skip = -torch.frombuffer(pages, dtype=torch.uint8).data_ptr() % alignment
    return Memory(torch.frombuffer(pages, dtype=torch.uint8, count=size, offset=skip), pages, skip)


def mapped_pages(size: int) -> mmap.mmap:
    """Pages of the system, huge ones where it has them; a page costs nothing until it is written to."""
    pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # of a system built without them
            pages.madvise(mmap.MADV_HUGEPAGE)
    return pages


def memory_on(device: torch.device, size: int) -> Memory:
    """Memory of some bytes on a device, its content undefined."""
    return host_memory(size) if device.type == "cpu" else Memory(torch.empty(size, dtype=torch.uint8, device=device))


def rooms_for(buffers: Iterable[Buffer], device: torch.device, *, separate: bool) -> dict[str, Room]:
    """A room for each local tensor, by name: next to each other in one slab, or each in memory of its own."""
    sizes = [(buffer, round_up(nbytes(buffer.dtype, buffer.shape), ALIGNMENT)) for buffer in buffers]
    if separate:
        return {buffer.name: Room(buffer, memory_on(device, size), 0) for buffer, size in sizes}
    offsets = [0, *accumulate(size for _, size in sizes)]
    slab = memory_on(device, offsets[-1])
    return {buffer.name: Room(buffer, slab, offset) for (buffer, _), offset in zip(sizes, offsets, strict=False)}
