"""Loading what `shardc shard` wrote: a rank's local tensors, taken whole from files of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from shardc.runtime.config import Config
from shardc.runtime.errors import Finding, ShardError
from shardc.runtime.headers import Header, parse_headers, read_header_text
from shardc.runtime.indexes import read_config, read_headers
from shardc.runtime.locations import Location
from shardc.runtime.manifests import (
    RANK_MANIFEST,
    SET_MANIFEST,
    Cut,
    RankLayout,
    RankManifest,
    SetManifest,
    header_digest,
    mesh_words,
    rank_folder,
    read_rank,
    read_set,
    world_rank,
)
from shardc.runtime.planning import Mesh
from shardc.runtime.refusals import refuse_directory
from shardc.runtime.regions import whole_dim
from shardc.runtime.shards import Layout, Shard
from shardc.runtime.tensors import Spec


class SavedRank(NamedTuple):
    """A rank that was cut before: its folder, how each tensor was cut, and the headers of its own files."""

    folder: str
    layouts: Mapping[str, RankLayout]
    headers: Mapping[str, Header]


class Stock(NamedTuple):
    """Where a load takes its tensors from. headers: of the whole tensors, by which each rank's part is planned.

    saved: of ranks that were cut before, those that are loaded, in their order; None for whole tensors.
    """

    config: Config
    headers: Mapping[str, Header]
    saved: list[SavedRank] | None = None

    def read_as(self, number: int, shards: list[Shard]) -> tuple[list[Shard], Mapping[str, Header]]:
        """The shards of the `number`-th rank as they are to be read, and the headers of what is read.

        Of a rank that was cut before, that is whole local tensors. Raises SHD415 where it was cut otherwise.
        """
        if self.saved is None:
            return shards, self.headers
        rank = self.saved[number]
        findings = list(cut_otherwise(rank, shards))
        if findings:
            raise ShardError(*findings)
        return [Shard(name, taken_whole(layout)) for name, layout in shards], rank.headers


def open_stock(directory: Location, spec: Spec, meshes: Sequence[Mesh]) -> Stock:
    """A checkpoint of whole tensors, or what `shardc shard` wrote of one, by its headers.

    Raises SHD412 (cut for another mesh, or by another program), SHD415 (by another spec), SHD416 (ranks of two runs),
    SHD417 (a rank is missing), SHD414, SHD406 and SHD407.
    """
    if not (directory / SET_MANIFEST).is_file():
        for tp in sorted({mesh["tp"].size if "tp" in mesh else 1 for mesh in meshes}):
            refuse_directory(directory, tp)
        return Stock(read_config(directory), read_headers(directory))
    known = read_set(directory)
    saved = [open_saved(directory, known, spec, mesh) for mesh in meshes]
    return Stock(read_config(directory), known.headers(), saved)


def whole_headers(directory: Location) -> dict[str, Header]:
    """The headers of a checkpoint's whole tensors, be it cut for ranks or not."""
    is_cut = (directory / SET_MANIFEST).is_file()
    return read_set(directory).headers() if is_cut else read_headers(directory)


def open_saved(directory: Location, known: SetManifest, spec: Spec, mesh: Mesh) -> SavedRank:
    """One rank of a set."""
    check_cut(directory, known.cut, spec, tuple((name, dim.size) for name, dim in mesh.items()))
    folder = rank_folder(world_rank(mesh))
    rank = open_rank(directory, folder, known)
    return SavedRank(folder, rank.layouts, rank_headers(directory, folder, rank))


def check_cut(directory: Location, cut: Cut, spec: Spec, mesh: tuple[tuple[str, int], ...]) -> None:
    """Raises SHD412 for another mesh than the one asked, and SHD415 for another spec."""
    if dict(cut.mesh) != dict(mesh):
        asked = mesh_words(mesh)
        options = " ".join(size_option(name, size) for name, size in mesh if size > 1 or name == "tp")
        text = f"{directory} is cut for {mesh_words(cut.mesh)} already, and {asked} is asked"
        raise ShardError(("SHD412", f"{text}: cut it anew with `shardc reshard {directory} {options} -o OUT`"))
    if (cut.spec, cut.digest) != (spec.name, spec.digest):
        text = f"{directory} was cut by {cut.spec} {cut.digest}, and this is {spec.name} {spec.digest}"
        raise ShardError(("SHD415", f"{text}: load it with the module it was cut by, or cut the original anew"))


def size_option(name: str, size: int) -> str:
    """The size of a mesh dim as the command line has it."""
    return f"--{name} {size}" if name in ("tp", "ep", "pp") else f"--mesh {name}={size}"


def open_rank(directory: Location, folder: str, known: SetManifest) -> RankManifest:
    """The manifest of a rank of a set. Raises SHD417 where it has none, SHD416 where it is of another run."""
    if not (directory / f"{folder}/{RANK_MANIFEST}").is_file():
        text = f"{directory} has no {folder}/{RANK_MANIFEST}: the rank was never cut, or its run was stopped"
        raise ShardError(("SHD417", f"{text}; `shardc shard` with the same options writes what is missing"))
    rank = read_rank(directory, folder)
    if rank.cut != known.cut:
        words = zip(Cut._fields, cut_words(rank.cut), cut_words(known.cut), strict=True)
        differs = "; ".join(f"{field} {mine} beside {other}" for field, mine, other in words if mine != other)
        raise ShardError(("SHD416", f"{directory}: {folder} is of another run than {SET_MANIFEST}: {differs}"))
    return rank


def cut_words(cut: Cut) -> tuple[str, ...]:
    """The fields of a cut in words."""
    return cut.spec, cut.digest, mesh_words(cut.mesh), cut.source


def rank_headers(directory: Location, folder: str, rank: RankManifest) -> dict[str, Header]:
    """Every local tensor of a rank, in the files of its manifest. Raises SHD406, SHD407 and SHD416, all together."""
    found: dict[str, Header] = {}
    findings: list[Finding] = []
    for name, (size, digest) in rank.files.items():
        path = directory / name
        try:
            text, file_bytes = read_header_text(path)
            if file_bytes != size:
                findings.append(("SHD406", f"{name}: {file_bytes} bytes in the file, {size} when it was written"))
            elif header_digest(text) != digest:
                findings.append(("SHD416", f"{name} is not the file that {folder}/{RANK_MANIFEST} is about"))
            else:
                found |= parse_headers(path, text, file_bytes)
        except ShardError as error:
            findings += error.findings
    lacking = [name for name in rank.layouts if name not in found]
    if lacking and not findings:
        findings.append(("SHD407", f"{folder}/{RANK_MANIFEST} has {lacking[0]}, which is in none of its files"))
    if findings:
        raise ShardError(*findings)
    return found


def cut_otherwise(rank: SavedRank, shards: Iterable[Shard]) -> Iterator[Finding]:
    """SHD415 for every shard that a rank does not have, or has with other regions, shape or dtype."""
    for shard in shards:
        layout, header = rank.layouts.get(shard.name), rank.headers.get(shard.name)
        planned = (shard.dtype, shard.local_shape)
        if layout is None or header is None:
            yield ("SHD415", f"{shard.name} is not in {rank.folder}")
        elif layout != (shard.shape, shard.at):
            yield ("SHD415", f"{shard.name} in {rank.folder} is {layout.at} of {list(layout.shape)}, not {shard.at}")
        elif header[:2] != planned:
            found, expected = (f"{dtype} {list(shape)}" for dtype, shape in (header[:2], planned))
            yield ("SHD415", f"{shard.name} in {rank.folder} is {found}, not {expected}")


@lru_cache(maxsize=4096)
def taken_whole(layout: Layout) -> Layout:
    """The same local tensor as what is in the file."""
    local = layout.local_shape
    return replace(layout, shape=local, at=tuple(map(whole_dim, local)))
