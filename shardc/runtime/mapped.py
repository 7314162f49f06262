"""A safetensors file mapped into memory, and its tensors as views of the mapping."""

from __future__ import annotations

import mmap
import warnings
from pathlib import Path

import torch

from shardc.runtime.dtypes import TORCH_DTYPES
from shardc.runtime.errors import ShardError
from shardc.runtime.headers import Header


class MappedFile:
    """One file of a checkpoint, mapped read-only. The mapping is closed with the last view of it, never under one."""

    def __init__(self, path: Path) -> None:
        """Maps a file. Raises SHD406 where that cannot be done."""
        self.path = path
        try:
            with path.open("rb") as file:
                self.pages = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise ShardError(("SHD406", f"{path.name}: {error}")) from error
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The given buffer is not writable")
            self.bytes = torch.frombuffer(self.pages, dtype=torch.uint8)

    def tensor(self, name: str, header: Header) -> torch.Tensor:
        """The tensor as it is in the file. Raises SHD406 where the file has become too short for it."""
        if header.end > len(self.pages):
            found = f"{name} takes bytes {header.begin}..{header.end}, but the file has {len(self.pages)}"
            raise ShardError(("SHD406", f"{self.path.name}: {found}"))
        dtype = TORCH_DTYPES[header.dtype]
        stored = self.bytes[header.begin : header.end]
        aligned = stored if header.begin % dtype.itemsize == 0 else stored.clone()
        return aligned.view(dtype).view(header.shape)

    def drop(self, header: Header) -> None:
        """Takes a tensor's pages out of this process's memory, where the system can; they are read again if needed."""
        first_page = header.begin - header.begin % mmap.PAGESIZE
        if header.begin < header.end and hasattr(mmap, "MADV_DONTNEED"):
            self.pages.madvise(mmap.MADV_DONTNEED, first_page, header.end - first_page)
