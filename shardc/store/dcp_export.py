"""Ranks' files as a checkpoint of torch.distributed.checkpoint (DCP): a file a rank, and what is where."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import torch
from torch.distributed.checkpoint.filesystem import _StorageInfo
from torch.distributed.checkpoint.metadata import (
    ChunkStorageMetadata,
    Metadata,
    MetadataIndex,
    TensorProperties,
    TensorStorageMetadata,
)

from shardc.runtime.dtypes import TORCH_DTYPES, nbytes
from shardc.runtime.headers import Header
from shardc.runtime.rectangles import Rectangle
from shardc.store.blocks import blocks, moved, shape_of, whole
from shardc.store.companions import copy_small_files
from shardc.store.dcp_metadata import METADATA
from shardc.store.ranked import Ranked
from shardc.store.reader import Reader
from shardc.store.writer import Progress, replaced


class Written(NamedTuple):
    """A part of a full tensor, and its bytes [offset, offset + length) of a file."""

    name: str
    full: Rectangle
    file: str
    offset: int
    length: int


class DcpExporter:
    """Each rank's part, without padding; what several ranks have is written by the first of them."""

    def __init__(self, directory: Path, out: Path) -> None:
        """Raises ShardError where ranks are missing, broken, or of several runs."""
        self.ranked = Ranked(directory)
        self.out = out
        self.reader = Reader()

    def folders(self) -> list[str]:
        """The ranks' folders, and that of what the spec ignores."""
        return list(self.ranked.manifests)

    def begin(self) -> None:
        """Copies the small files."""
        self.out.mkdir(parents=True, exist_ok=True)
        copy_small_files(self.ranked.directory, self.out)

    def bytes_of_all(self) -> int:
        """Bytes of all tensors."""
        return sum(nbytes(header.dtype, header.shape) for header in self.ranked.headers.values())

    def write(self, folder: str, progress: Progress) -> list[Written]:
        """One rank's file."""
        name = f"__{self.folders().index(folder)}_0.distcp"
        chunks: list[Written] = []
        with replaced(self.out / name) as file:
            for tensor in self.ranked.manifests[folder].layouts:
                for full, part in self._parts(folder, tensor):
                    offset = file.tell()
                    torch.save(part, file)
                    chunks.append(Written(tensor, full, name, offset, file.tell() - offset))
                    progress(part.nbytes)
        return chunks

    def finish(self, written: Iterable[list[Written]]) -> None:
        """The metadata of the checkpoint, from the chunks of all files."""
        chunks = [chunk for one in written for chunk in one]
        with replaced(self.out / METADATA) as file:
            pickle.dump(metadata_of(self.ranked.headers, chunks), file)

    def _parts(self, folder: str, name: str) -> Iterable[tuple[Rectangle, torch.Tensor]]:
        """(place in the full tensor, elements) of what this folder is the first to have, a block at a time."""
        dtype, shape = self.ranked.headers[name][:2]
        given = self.ranked.originals.get(name)
        if given is not None:
            if next(iter(self.ranked.layouts(name))) == folder:
                yield whole(shape), torch.frombuffer(bytearray(given), dtype=TORCH_DTYPES[dtype]).view(shape)
            return
        for patch in self.ranked.patches(name):
            if patch.folder != folder:
                continue
            sizes = shape_of(patch.to)
            for block in blocks(sizes, TORCH_DTYPES[dtype].itemsize):
                source = moved(block, whole(sizes), patch.source)
                bits = self.reader.part(name, patch.header, source)
                yield moved(block, whole(sizes), patch.to), bits.clone().view(TORCH_DTYPES[dtype])
                self.reader.drop(patch.header)


def metadata_of(headers: dict[str, Header], chunks: Iterable[Written]) -> Metadata:
    """What DCP reads first: full shapes, and the file of each chunk."""
    tensors = {
        name: TensorStorageMetadata(TensorProperties(dtype=TORCH_DTYPES[header.dtype]), torch.Size(header.shape), [])
        for name, header in headers.items()
    }
    storage: dict[MetadataIndex, _StorageInfo] = {}
    for name, full, file, offset, length in chunks:
        begin = torch.Size(start for start, _ in full)
        known = tensors[name].chunks
        storage[MetadataIndex(name, begin, len(known))] = _StorageInfo(file, offset, length)
        known.append(ChunkStorageMetadata(begin, torch.Size(shape_of(full))))
    return Metadata(dict(tensors), {name: (name,) for name in tensors}, storage)
