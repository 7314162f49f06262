"""A checkpoint of torch.distributed.checkpoint (DCP) as a safetensors checkpoint of whole tensors."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import NamedTuple

import torch

from shardc.runtime.dtypes import TORCH_DTYPES
from shardc.runtime.errors import ShardError
from shardc.runtime.indexes import INDEX
from shardc.store.blocks import overlap, shape_of, whole
from shardc.store.companions import copy_small_files
from shardc.store.dcp_metadata import METADATA, Chunk, DcpTensor, read_dcp
from shardc.store.parts import PART_BYTES, deal
from shardc.store.patches import Content
from shardc.store.reader import Reader, as_bits, view
from shardc.store.writer import Progress, header_text, write_file, write_text


class File(NamedTuple):
    """One file that is to be, and its tensors."""

    name: str
    contents: list[Content]


class DcpImporter:
    """The files of a safetensors checkpoint, one at a time; of a tensor, all is held while it is written.

    prefix: only names that begin with it are taken, without it. `others` is what was left: no tensors, or other names.
    """

    def __init__(self, directory: Path, out: Path, prefix: str = "", part_bytes: int = PART_BYTES) -> None:
        """Raises SHD404, SHD406 and SHD113 (no tensor is taken)."""
        self.directory, self.out = directory, out
        tensors, self.others = read_dcp(directory)
        self.others += [name for name in tensors if not name.startswith(prefix)]
        self.tensors = {name.removeprefix(prefix): one for name, one in tensors.items() if name.startswith(prefix)}
        if not self.tensors:
            raise ShardError(("SHD113", f"{directory} has no tensor whose name begins with {prefix!r}"))
        for name, one in self.tensors.items():
            check_chunks(name, one)
        parts = deal((Content(name, one.dtype, one.shape) for name, one in self.tensors.items()), part_bytes)
        self._files = [File(f"model-{at:05}-of-{len(parts):05}.safetensors", part) for at, part in enumerate(parts, 1)]

    def files(self) -> list[str]:
        """Their names."""
        return [file.name for file in self._files]

    def begin(self) -> None:
        """Copies the small files."""
        self.out.mkdir(parents=True, exist_ok=True)
        copy_small_files(self.directory, self.out)

    def bytes_of(self, file: str) -> int:
        """Bytes of tensors in a file."""
        return sum(content.nbytes for content in self._contents(file))

    def write(self, file: str, progress: Progress) -> int:
        """One file; its bytes of tensors. Raises SHD406."""
        contents = self._contents(file)
        text = header_text(contents, {"format": "pt"})
        write_file(self.out / file, text, map(self._filled, contents), Reader(), progress)
        return self.bytes_of(file)

    def finish(self) -> None:
        """Writes the index."""
        weight_map = {content.name: file.name for file in self._files for content in file.contents}
        total = sum(map(self.bytes_of, self.files()))
        text = json.dumps({"metadata": {"total_size": total}, "weight_map": weight_map}, indent=2) + "\n"
        write_text(self.out / INDEX, text)

    def _contents(self, name: str) -> list[Content]:
        return next(file.contents for file in self._files if file.name == name)

    def _filled(self, content: Content) -> Content:
        """The tensor, put together from its chunks."""
        one = self.tensors[content.name]
        data = bytearray(content.nbytes)
        if data:
            full = as_bits(torch.frombuffer(data, dtype=torch.uint8).view(TORCH_DTYPES[one.dtype])).view(one.shape)
            written = torch.zeros(one.shape, dtype=torch.bool)
            for chunk, part in self._parts(content.name, one):
                view(full, chunk.full).copy_(as_bits(part))
                view(written, chunk.full).fill_(True)
            if not bool(written.all()):
                raise ShardError(("SHD406", f"{METADATA}: {content.name} has elements that no chunk has"))
        return content._replace(given=memoryview(data))

    def _parts(self, name: str, one: DcpTensor) -> Iterator[tuple[Chunk, torch.Tensor]]:
        for chunk in one.chunks:
            part = self._read(name, chunk)
            if part.dtype != TORCH_DTYPES[one.dtype] or tuple(part.shape) != shape_of(chunk.full):
                found = f"{name} at {list(chunk.full)} is {part.dtype} {list(part.shape)}"
                raise ShardError(("SHD406", f"{chunk.file}: {found}, which the metadata does not say"))
            yield chunk, part

    def _read(self, name: str, chunk: Chunk) -> torch.Tensor:
        try:
            with (self.directory / chunk.file).open("rb") as file:
                file.seek(chunk.offset)
                data = file.read(chunk.length)
            part = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
        except OSError as error:
            raise ShardError(("SHD406", f"{chunk.file}: {error.strerror or error}")) from error
        except Exception as error:
            first = str(error).partition("\n")[0]
            raise ShardError(("SHD406", f"{chunk.file}: {name} at byte {chunk.offset}: {first}")) from error
        if not isinstance(part, torch.Tensor):
            raise ShardError(("SHD406", f"{chunk.file}: {name} at byte {chunk.offset} is no tensor"))
        return part.contiguous()


def check_chunks(name: str, one: DcpTensor) -> None:
    """Raises SHD406 where a chunk does not lie in its tensor, or tensors are larger than their chunks together."""
    inside = all(overlap(chunk.full, whole(one.shape)) in (chunk.full, None) for chunk in one.chunks)
    covered = sum(prod(shape_of(chunk.full)) for chunk in one.chunks)
    if not inside or covered != prod(one.shape):
        text = f"{covered} elements in chunks of {list(one.shape)}"
        raise ShardError(("SHD406", f"{METADATA}: {name} is not what its chunks are: {text}"))
