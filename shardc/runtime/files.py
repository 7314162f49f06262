"""A file of a checkpoint: read into memory, or looked at in the page cache where it is there already."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import warnings
from collections.abc import Iterable
from threading import Lock

import torch

from shardc.runtime.errors import ShardError
from shardc.runtime.locations import Location
from shardc.runtime.memory import Memory
from shardc.runtime.remote import RemotePath


class SourceFile:
    """An open file. Raises SHD406 where it cannot be opened."""

    def __init__(self, path: Location) -> None:
        self.path = path
        self.descriptor = -1
        try:
            self.descriptor = os.open(str(path), os.O_RDONLY)
        except OSError as error:
            raise ShardError(("SHD406", f"{path.name}: {error.strerror}")) from error
        if hasattr(os, "posix_fadvise"):  # what lies behind a rank's rows is another rank's: the system is not to guess
            os.posix_fadvise(self.descriptor, 0, 0, os.POSIX_FADV_RANDOM)
        self.residency_is_told = tells_residency(self.descriptor, str(path))
        self.pages: mmap.mmap | None = None
        self.mapped: Memory | None = None
        self.lock = Lock()

    def close(self) -> None:
        """Closes the file, unless it is closed; its mapping goes with the last view of it."""
        self.mapped = self.pages = None
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def __del__(self) -> None:
        self.close()

    def size(self) -> int:
        """Bytes of the file as it is now."""
        return os.fstat(self.descriptor).st_size

    def read(self, into: Iterable[memoryview], begin: int) -> int:
        """Fills memories, one after another, from byte `begin` on.

        Returns how many bytes the file had for them; raises OSError.
        """
        left = list(into)
        done = 0
        while left:
            count = os.preadv(self.descriptor, left, begin + done)
            if count == 0:
                break
            done += count
            while left and count >= len(left[0]):
                count -= len(left.pop(0))
            if count:
                left[0] = left[0][count:]
        return done

    def cached(self, begin: int, end: int) -> Memory | None:
        """The file's bytes, without a copy, where the page cache has all of begin .. end, which alone are to be read.

        `drop` takes them out again.
        """
        mapped = self.map() if self.residency_is_told else None
        if mapped is None or end > self.size():
            return None
        return mapped if is_resident(mapped.flat, begin, end) else None

    def drop(self, begin: int, end: int) -> None:
        """Takes the pages that lie in begin .. end out of this process's memory; they stay in the page cache."""
        if self.pages is not None:
            first = begin - begin % mmap.PAGESIZE
            self.pages.madvise(mmap.MADV_DONTNEED, first, end - first)

    def map(self) -> Memory | None:
        """The file's bytes, mapped once. None where that cannot be done, or mapped pages not be dropped."""
        with self.lock:
            if self.mapped is None and hasattr(mmap, "MADV_DONTNEED"):
                try:
                    self.pages = mmap.mmap(self.descriptor, 0, access=mmap.ACCESS_READ)
                except (OSError, ValueError):
                    return None
                with warnings.catch_warnings():
                    warnings.filterwarnings("ignore", "The given buffer is not writable")
                    self.mapped = Memory(torch.frombuffer(self.pages, dtype=torch.uint8))
            return self.mapped


def tells_residency(descriptor: int, path: str) -> bool:
    """Whether the system says which pages of a file are cached. Of another user's file, Linux says that all are."""
    if LIBC_MINCORE is None:
        return False
    return os.fstat(descriptor).st_uid == os.geteuid() or os.access(path, os.W_OK)


class RemoteFile:
    """A file in a store."""

    def __init__(self, path: RemotePath) -> None:
        self.path = path

    def close(self) -> None:
        """Nothing is held of it."""

    def read(self, into: Iterable[memoryview], begin: int) -> int:
        """Fills memories, one after another, from byte `begin` on.

        Returns how many bytes the file had for them; raises OSError.
        """
        memories = list(into)
        wanted = sum(map(len, memories))
        found = memoryview(self.path.fetch(begin, begin + wanted))
        if len(found) > wanted:
            raise OSError(errno.EIO, f"the store sent {len(found)} bytes for {wanted}: it can't read parts of a file")
        done = 0
        for memory in memories:
            part = found[done : done + len(memory)]
            memory[: len(part)] = part
            done += len(part)
        return done

    def cached(self, begin: int, end: int) -> Memory | None:
        """Nothing is there before it is read."""
        return None

    def drop(self, begin: int, end: int) -> None:
        """Nothing is there afterwards."""


OpenFile = SourceFile | RemoteFile


def open_file(path: Location) -> OpenFile:
    """A file, to be read by several threads. Raises SHD406 where it cannot be opened."""
    return RemoteFile(path) if isinstance(path, RemotePath) else SourceFile(path)


def is_resident(mapped: torch.Tensor, begin: int, end: int) -> bool:
    """Whether all pages of a mapped file that hold bytes begin .. end are in the page cache."""
    assert LIBC_MINCORE is not None
    first = begin - begin % mmap.PAGESIZE
    pages = (end - first + mmap.PAGESIZE - 1) // mmap.PAGESIZE
    found = ctypes.create_string_buffer(pages)
    address = ctypes.c_void_p(mapped.data_ptr() + first)
    failed = LIBC_MINCORE(address, ctypes.c_size_t(end - first), found)
    return not failed and found.raw.find(b"\0", 0, pages) < 0


LIBC_MINCORE = getattr(ctypes.CDLL(None), "mincore", None)
