"""Writing safetensors files block by block: to a temporary name, then renamed, so that what is there is whole."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import BinaryIO

import torch

from shardc.runtime.dtypes import TORCH_DTYPES
from shardc.runtime.headers import LENGTH_BYTES
from shardc.store.blocks import BLOCK_BYTES, blocks, shape_of
from shardc.store.patches import Content, Patch, in_block
from shardc.store.reader import Reader, as_bits, view

#: The first byte of data is a multiple of this: a tensor is then as well aligned as its place among the others.
DATA_ALIGNMENT = 64
#: Called with bytes that have been written since the last call.
Progress = Callable[[int], None]
#: Called with a block of a content, and a replica of a part of it with its place in the block.
Compare = Callable[[Content, tuple[tuple[int, int], ...], torch.Tensor, Patch], None]


def header_text(contents: Iterable[Content], metadata: Mapping[str, str]) -> bytes:
    """The JSON of the header of a file with these tensors in this order, padded with spaces."""
    entries: dict[str, object] = {"__metadata__": dict(metadata)}
    at = 0
    for one in contents:
        entries[one.name] = {"dtype": one.dtype, "shape": one.shape, "data_offsets": (at, at + one.nbytes)}
        at += one.nbytes
    text = json.dumps(entries, separators=(",", ":"), ensure_ascii=False).encode()
    return text + b" " * (-(LENGTH_BYTES + len(text)) % DATA_ALIGNMENT)


def write_file(
    path: Path,
    text: bytes,
    contents: Iterable[Content],
    reader: Reader,
    progress: Progress,
    compare: Compare | None = None,
) -> None:
    """One file: the header, and the tensors in the order of their bytes. Raises SHD406 for a source that breaks."""
    with replaced(path) as file:
        file.write(len(text).to_bytes(LENGTH_BYTES, "little") + text)
        for content in contents:
            for data in data_of(content, reader, compare):
                file.write(data)
                progress(len(data))


def data_of(content: Content, reader: Reader, compare: Compare | None) -> Iterator[memoryview | bytes]:
    """The bytes of a tensor, a block at a time; a block is good until the next is asked for."""
    if content.given is not None:
        yield content.given
        return
    dtype = TORCH_DTYPES[content.dtype]
    buffer = bytearray(min(content.nbytes, max(BLOCK_BYTES, dtype.itemsize)))
    for block in blocks(content.shape, dtype.itemsize):
        size = prod(shape_of(block)) * dtype.itemsize
        held = as_bits(torch.frombuffer(buffer, dtype=torch.uint8, count=size).view(dtype)).view(shape_of(block))
        fill(held, content, block, reader)
        for replica in content.replicas if compare else ():
            part = in_block(replica, block)
            if part is not None and compare is not None:
                compare(content, block, view(held, part.to), part)
                reader.drop(part.header)
        yield memoryview(buffer)[:size]


def fill(held: torch.Tensor, content: Content, block: tuple[tuple[int, int], ...], reader: Reader) -> None:
    """The patches of a block, and zeros where there are none."""
    parts = [part for patch in content.patches if (part := in_block(patch, block)) is not None]
    if sum(prod(shape_of(part.to)) for part in parts) < held.numel():
        held.zero_()
    for part in parts:
        view(held, part.to).copy_(reader.part(content.name, part.header, part.source))
    for header in {part.header for part in parts}:
        reader.drop(header)


@contextmanager
def replaced(path: Path) -> Iterator[BinaryIO]:
    """A file to write, which takes its name when all of it is on disk; an error leaves nothing behind."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """A small file, replaced as a whole."""
    with replaced(path) as file:
        file.write(text.encode())
