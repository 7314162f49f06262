"""Reading parts of tensors, whatever file they are in."""

from __future__ import annotations

import os
from pathlib import Path

import torch

from shardc.runtime.dtypes import RAW, TORCH_DTYPES
from shardc.runtime.errors import ShardError
from shardc.runtime.files import SourceFile
from shardc.runtime.headers import Header
from shardc.runtime.rectangles import Rectangle

#: Files that are open at a time.
OPEN_FILES = 64


def as_bits(tensor: torch.Tensor) -> torch.Tensor:
    """The same elements as whole numbers of their size."""
    return tensor.view(RAW[tensor.dtype.itemsize])


def view(tensor: torch.Tensor, rectangle: Rectangle) -> torch.Tensor:
    """A rectangle of a tensor, without a copy."""
    return tensor[tuple(slice(start, stop) for start, stop in rectangle)]


class Reader:
    """Files by their paths, opened when they are first read."""

    def __init__(self) -> None:
        self._open: dict[str, SourceFile] = {}

    def part(self, name: str, header: Header, rectangle: Rectangle) -> torch.Tensor:
        """A rectangle of a file's tensor as bits, good until `drop`.

        It is no copy where files can be mapped; elsewhere all of the tensor is read for it. Raises SHD406.
        """
        file = self._file(header)
        size = file.size()
        if header.end > size:
            found = f"{name} takes bytes {header.begin}..{header.end}, but the file has {size}"
            raise ShardError(("SHD406", f"{file.path.name}: {found}"))
        dtype = TORCH_DTYPES[header.dtype]
        stored = self._bytes(file, header)
        aligned = stored if header.begin % dtype.itemsize == 0 else stored.clone()
        return view(as_bits(aligned.view(dtype)).view(header.shape), rectangle)

    def drop(self, header: Header) -> None:
        """Takes what was read of a tensor out of this process's memory."""
        if header.begin < header.end:
            self._file(header).drop(header.begin, header.end)

    def _bytes(self, file: SourceFile, header: Header) -> torch.Tensor:
        if header.begin == header.end:
            return torch.empty(0, dtype=torch.uint8)
        mapped = file.map()
        if mapped is not None:
            return mapped.flat[header.begin : header.end]
        data = bytearray(header.end - header.begin)
        file.read([memoryview(data)], header.begin)
        return torch.frombuffer(data, dtype=torch.uint8)

    def _file(self, header: Header) -> SourceFile:
        if header.file not in self._open:
            if len(self._open) >= OPEN_FILES:
                self._open.pop(next(iter(self._open))).close()
            file = self._open[header.file] = SourceFile(Path(header.file))
            if hasattr(os, "posix_fadvise"):  # here all of a file is read, in its order, whatever a rank keeps of it
                os.posix_fadvise(file.descriptor, 0, 0, os.POSIX_FADV_SEQUENTIAL)
        return self._open[header.file]
