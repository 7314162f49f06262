"""The metadata of a checkpoint of torch.distributed.checkpoint (DCP), read without running anything that is in it."""

from __future__ import annotations

import io
import pathlib
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch.distributed.checkpoint import filesystem, metadata

from shardc.runtime.dtypes import FILE_DTYPES
from shardc.runtime.errors import Finding, ShardError
from shardc.runtime.manifests import is_plain
from shardc.runtime.rectangles import Rectangle

METADATA = ".metadata"
#: What a pickle of metadata may make, beside numbers, strings and what holds them.
_KNOWN: Mapping[tuple[str, str], Any] = {
    ("torch", "Size"): torch.Size,
    ("torch.serialization", "_get_layout"): getattr(torch.serialization, "_get_layout", None),
    ("torch.distributed.checkpoint.filesystem", "_StorageInfo"): filesystem._StorageInfo,
    **{
        ("torch.distributed.checkpoint.metadata", name): getattr(metadata, name)
        for name in (
            "BytesStorageMetadata", "ChunkStorageMetadata", "Metadata", "MetadataIndex", "StorageMeta",
            "TensorProperties", "TensorStorageMetadata", "_MEM_FORMAT_ENCODING",
        )
        if hasattr(metadata, name)
    },
    **{("pathlib", name): getattr(pathlib, name) for name in ("PosixPath", "PurePosixPath")},
}  # fmt: skip


class Chunk(NamedTuple):
    """A part of a full tensor, and its bytes [offset, offset + length) of a file, as torch.save wrote them."""

    full: Rectangle
    file: str
    offset: int
    length: int


class DcpTensor(NamedTuple):
    """dtype as safetensors names it, full shape, and the chunks that it is made of."""

    dtype: str
    shape: tuple[int, ...]
    chunks: tuple[Chunk, ...]


class _Unpickler(pickle.Unpickler):
    """Makes what DCP's metadata is made of, and refuses everything else."""

    def find_class(self, module: str, name: str) -> Any:
        found = _KNOWN.get((module, name))
        dtype = getattr(torch, name, None) if module == "torch" else None
        if found is None and not isinstance(dtype, torch.dtype):
            raise pickle.UnpicklingError(f"{module}.{name} is no part of a checkpoint's metadata")
        return found if found is not None else dtype


def read_dcp(directory: Path) -> tuple[dict[str, DcpTensor], list[str]]:
    """The tensors of a DCP checkpoint by name, and the names of what is no tensor.

    Raises SHD406 for metadata that is none, or that torch did not write so; SHD404 for a dtype that no file has.
    """
    path = directory / METADATA
    try:
        found = _Unpickler(io.BytesIO(path.read_bytes())).load()
    except Exception as error:
        raise ShardError(("SHD406", f"{METADATA}: {error}")) from error
    try:
        return tensors_of(found)
    except (AttributeError, TypeError, KeyError, ValueError) as error:
        raise ShardError(("SHD406", f"{METADATA}: not as torch writes it: {error}")) from error


def tensors_of(found: Any) -> tuple[dict[str, DcpTensor], list[str]]:
    """The metadata as plain values."""
    tensors: dict[str, DcpTensor] = {}
    others: list[str] = []
    findings: list[Finding] = []
    for name, one in found.state_dict_metadata.items():
        if not isinstance(one, metadata.TensorStorageMetadata):
            others.append(str(name))
            continue
        dtype = FILE_DTYPES.get(one.properties.dtype)
        if dtype is None:
            findings.append(("SHD404", f"{name} is {one.properties.dtype}, which no safetensors file has"))
            continue
        chunks = tuple(chunk_of(found.storage_data, name, chunk) for chunk in one.chunks)
        tensors[str(name)] = DcpTensor(dtype, tuple(map(int, one.size)), chunks)
    if findings:
        raise ShardError(*findings)
    return tensors, others


def chunk_of(storage: Mapping[Any, Any], name: str, chunk: Any) -> Chunk:
    """Where a chunk is. Raises ValueError for a file elsewhere, and for bytes that were transformed."""
    where = storage[metadata.MetadataIndex(name, chunk.offsets)]
    if not (isinstance(where.relative_path, str) and is_plain(where.relative_path)):
        raise ValueError(f"{where.relative_path!r} is no plain file name")
    if getattr(where, "transform_descriptors", None):
        raise ValueError(f"{where.relative_path} is compressed, or transformed otherwise")
    full = tuple((int(at), int(at) + int(size)) for at, size in zip(chunk.offsets, chunk.sizes, strict=True))
    return Chunk(full, where.relative_path, int(where.offset), int(where.length))
