"""What a directory of ranks' files says of itself: one manifest for the set, and one for each rank."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

from shardc.runtime.arithmetic import is_whole_number
from shardc.runtime.errors import ShardError
from shardc.runtime.headers import LENGTH_BYTES, Header, are_sizes, parse_headers, parse_object, read_object
from shardc.runtime.locations import Location
from shardc.runtime.meshes import MeshDim
from shardc.runtime.regions import Spans

SET_MANIFEST = "shardc.json"
RANK_MANIFEST = "rank.json"
MANIFEST_FORMAT = 1
MAX_RECTANGLES = 1 << 16


class Cut(NamedTuple):
    """Which cut of which checkpoint; files of two cuts do not go together.

    spec, digest: of the spec that it was cut by. mesh: ranks on each mesh dim. source: digest of the original.
    """

    spec: str
    digest: str
    mesh: tuple[tuple[str, int], ...]
    source: str


class SetManifest(NamedTuple):
    """What all ranks share. files: the header of each original file, as merging writes it, by the file's name.

    index_file: name and text of the original index; None where it had none.
    """

    cut: Cut
    files: Mapping[str, str]
    index_file: tuple[str, str] | None

    def headers(self) -> dict[str, Header]:
        """Every tensor of the original, in its own files. Raises SHD406."""
        found: dict[str, Header] = {}
        for name, text in self.files.items():
            found |= original_headers(name, text)
        return found


class RankLayout(NamedTuple):
    """Full shape of a tensor, and for each dim the regions that a rank keeps, normalised."""

    shape: tuple[int, ...]
    at: tuple[Spans, ...]


class RankManifest(NamedTuple):
    """What one rank's files are. It is written last: a rank that has one is complete.

    files: (bytes, digest of the header) by name, from the directory of the set. layouts: by tensor name.
    originals: the original's bytes of tensors of which a rank has values of its own.
    """

    cut: Cut
    files: Mapping[str, tuple[int, str]]
    layouts: Mapping[str, RankLayout]
    originals: Mapping[str, bytes]


def original_headers(name: str, text: str) -> dict[str, Header]:
    """The tensors of one original file, from its header alone. Raises SHD406."""
    path, raw = Path(name), text.encode()
    entries = parse_object(path, raw)
    ends = [entry["data_offsets"][1] for key, entry in entries.items() if key != "__metadata__" and has_end(entry)]
    return parse_headers(path, raw, LENGTH_BYTES + len(raw) + max(ends, default=0))


def has_end(entry: Any) -> bool:
    """True where a header's entry says where its bytes end."""
    offsets: Any = entry.get("data_offsets") if isinstance(entry, dict) else None
    return are_sizes(offsets) and len(offsets) == 2


def world_rank(mesh: Mapping[str, MeshDim]) -> int:
    """The rank's number among all, mesh dims varying faster the earlier they come."""
    rank, step = 0, 1
    for dim in mesh.values():
        rank, step = rank + dim.rank * step, step * dim.size
    return rank


def rank_folder(rank: int) -> str:
    """Where the manifest of a rank is, and its files, unless they are named otherwise."""
    return f"rank-{rank}"


def mesh_words(mesh: tuple[tuple[str, int], ...]) -> str:
    """`tp=4, ep=2`, of the mesh dims that have more than one rank; tp is always said."""
    return ", ".join(f"{name}={size}" for name, size in mesh if size > 1 or name == "tp")


def header_digest(text: bytes) -> str:
    """What tells the header of one rank's file from others."""
    return hashlib.blake2b(text, digest_size=16).hexdigest()


def read_set(directory: Location) -> SetManifest:
    """The manifest of a set. Raises SHD406 where it is none."""
    path = SET_MANIFEST
    found = manifest_object(directory, path)
    files, index = text_by_name(path, found, "files"), found.get("index")
    elsewhere = [name for name in files if not (is_plain(name) and name.endswith(".safetensors"))]
    if elsewhere:
        raise broken_manifest(path, f"files: {elsewhere[0]!r} is no name of a safetensors file")
    if index is not None and not (isinstance(index, list) and len(index) == 2 and all(map(is_text, index))):
        raise broken_manifest(path, "index: no name and text")
    if index is not None and not (is_plain(index[0]) and index[0].endswith(".safetensors.index.json")):
        raise broken_manifest(path, f"index: {index[0]!r} is no name of an index")
    return SetManifest(cut_of(path, found), files, tuple(index) if index else None)


def read_rank(directory: Location, folder: str) -> RankManifest:
    """The manifest of one rank. Raises SHD406 where it is none."""
    path = f"{folder}/{RANK_MANIFEST}"
    found = manifest_object(directory, path)
    files, tensors = found.get("files"), found.get("tensors")
    if not isinstance(files, dict) or not all(map(is_file_entry, files.items())):
        raise broken_manifest(path, "files: no size and digest by file name")
    layouts = [layout_entry(path, entry) for entry in as_list(found.get("layouts"))]
    if not isinstance(tensors, dict) or not all(
        is_whole_number(at) and 0 <= at < len(layouts) for at in tensors.values()
    ):
        raise broken_manifest(path, "tensors: no layout by name")
    try:
        held = {name: bytes.fromhex(text) for name, text in text_by_name(path, found, "originals").items()}
    except ValueError as error:
        raise broken_manifest(path, f"originals: {error}") from error
    sizes = {name: (size, digest) for name, (size, digest) in files.items()}
    return RankManifest(cut_of(path, found), sizes, {name: layouts[at] for name, at in tensors.items()}, held)


def manifest_object(directory: Location, path: str) -> dict[str, Any]:
    """The JSON of a manifest. Raises SHD406 where it cannot be read, or is of another version."""
    found = read_object(directory / path)
    if found.get("format") != MANIFEST_FORMAT:
        raise broken_manifest(path, f"format {found.get('format')!r}, and this version reads {MANIFEST_FORMAT}")
    return found


def cut_of(path: str, found: dict[str, Any]) -> Cut:
    """Which cut a manifest is of."""
    spec, digest, mesh, source = (found.get(key) for key in ("spec", "digest", "mesh", "source"))
    if not (isinstance(spec, str) and isinstance(digest, str) and isinstance(source, str)):
        raise broken_manifest(path, "spec, digest and source: not all are there")
    if not isinstance(mesh, dict) or not all(is_whole_number(size) and size > 0 for size in mesh.values()):
        raise broken_manifest(path, "mesh: no ranks by mesh dim")
    return Cut(spec, digest, tuple(mesh.items()), source)


def layout_entry(path: str, entry: Any) -> RankLayout:
    """One layout of a manifest: regions inside their dims, in bounded number."""
    shape, at = (as_list(part) for part in entry) if isinstance(entry, list) and len(entry) == 2 else ([], [None])
    dims = [tuple(map(tuple, dim)) for dim in at if is_spans(dim)]
    inside = len(dims) == len(at) == len(shape) and are_sizes(shape)
    if not inside or any(stop > size for size, spans in zip(shape, dims, strict=True) for _, stop, _ in spans):
        raise broken_manifest(path, "layouts: regions that lie in no shape")
    if prod(len(spans) + 1 for spans in dims) > MAX_RECTANGLES:
        raise broken_manifest(path, "layouts: too many regions")
    return RankLayout(tuple(shape), tuple(dims))


def is_spans(dim: Any) -> bool:
    """True for a list of [start, stop, pad]."""
    return isinstance(dim, list) and all(are_sizes(span) and len(span) == 3 and span[0] <= span[1] for span in dim)


def is_file_entry(item: tuple[str, Any]) -> bool:
    """True for a file's name inside the directory, with its bytes and a digest."""
    name, entry = item
    parts = name.split("/")
    known = isinstance(entry, list) and len(entry) == 2 and is_whole_number(entry[0]) and is_text(entry[1])
    return known and len(parts) <= 2 and all(map(is_plain, parts))


def is_plain(name: str) -> bool:
    """True for a file name that leads nowhere else."""
    return name not in ("", ".", "..") and not {"/", "\\", "\0"} & set(name)


def is_text(value: Any) -> bool:
    """True for a string."""
    return isinstance(value, str)


def text_by_name(path: str, found: dict[str, Any], key: str) -> dict[str, str]:
    """An object of strings in a manifest."""
    value = found.get(key)
    if not isinstance(value, dict) or not all(map(is_text, value.values())):
        raise broken_manifest(path, f"{key}: no texts by name")
    return value


def as_list(value: Any) -> list[Any]:
    """A list; one that is none is empty."""
    return value if isinstance(value, list) else []


def broken_manifest(path: str, text: str) -> ShardError:
    """SHD406 for a manifest; its path is from the directory of the set."""
    return ShardError(("SHD406", f"{path}: {text}"))
