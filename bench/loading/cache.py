"""The state of the machine before a measurement: what is in the page cache, and memory that is ready to be used."""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Iterable
from pathlib import Path

MADV_POPULATE_WRITE = 23
GIB = 1 << 30

_libc = ctypes.CDLL(None, use_errno=True)


def files_under(paths: Iterable[Path]) -> list[Path]:
    """The files, and those in the folders."""
    return [file for path in paths for file in ([path] if path.is_file() else sorted(path.rglob("*")))]


def warm(files: Iterable[Path]) -> None:
    """Reads every file from its start to its end, so that the page cache holds it."""
    buffer = bytearray(8 << 20)
    for path in files:
        with path.open("rb", buffering=0) as file:
            while file.readinto(buffer):
                pass


def drop(files: Iterable[Path]) -> None:
    """Asks the kernel to forget the files' pages. `resident` tells what is left of them."""
    for path in files:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)  # a page that is not on the disk yet can't be dropped
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)


def resident(files: Iterable[Path]) -> float:
    """The part of the files' pages that the page cache holds, 0 to 1."""
    pages = held = 0
    for path in files:
        size = path.stat().st_size
        if not size:
            continue
        count = -(-size // mmap.PAGESIZE)
        vector = ctypes.create_string_buffer(count)
        with path.open("rb") as file:
            mapping = mmap.mmap(file.fileno(), size, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
        first = ctypes.c_char.from_buffer(mapping)
        failed = _libc.mincore(ctypes.c_void_p(ctypes.addressof(first)), ctypes.c_size_t(size), vector)
        del first
        mapping.close()
        if failed:
            raise OSError(ctypes.get_errno(), f"mincore of {path}")
        pages += count
        held += count - vector.raw[:count].count(b"\0")
    return held / pages if pages else 0.0


def free_bytes() -> int:
    """Memory that nothing uses, not even the page cache."""
    with Path("/proc/meminfo").open() as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemFree"))


def touch_and_free(count: int) -> None:
    """Touches `count` bytes in huge pages and frees them, or as many as are free less 1 GiB.

    A virtual machine gives memory that lay free for some seconds back to its host, and the first touch of it then
    costs a fault there. A measurement is to find memory that is the machine's already.
    """
    count = min(count, free_bytes() - GIB)
    if count <= 0:
        return
    mapping = mmap.mmap(-1, count, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    mapping.madvise(mmap.MADV_HUGEPAGE)
    first = ctypes.c_char.from_buffer(mapping)
    _libc.madvise(ctypes.c_void_p(ctypes.addressof(first)), ctypes.c_size_t(count), MADV_POPULATE_WRITE)
    del first
    mapping.close()
