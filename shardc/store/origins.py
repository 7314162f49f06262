"""What ranks' files are written from: a checkpoint of whole tensors, or what `shardc shard` wrote of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Protocol

from shardc.runtime.config import Config
from shardc.runtime.errors import ShardError
from shardc.runtime.headers import Header
from shardc.runtime.indexes import read_config
from shardc.runtime.manifests import SET_MANIFEST
from shardc.runtime.tensors import Spec
from shardc.store.blocks import whole
from shardc.store.companions import copy_small_files
from shardc.store.patches import Patch
from shardc.store.ranked import Ranked
from shardc.store.source import Source, original_files, original_index, read_source

#: Header texts by file name, and name and text of the index.
Files = tuple[Mapping[str, str], tuple[str, str] | None]


class Origin(Protocol):
    """Whole tensors by name, wherever their bytes are."""

    @property
    def config(self) -> Config:
        """config.json."""
        ...

    @property
    def headers(self) -> Mapping[str, Header]:
        """Full shapes and dtypes, and the original's files."""
        ...

    @property
    def digest(self) -> str:
        """What tells the original from other checkpoints."""
        ...

    def files(self, left_out: Collection[str]) -> Files:
        """The original's files and index, as merging writes them again."""
        ...

    def patches(self, name: str) -> tuple[Patch, ...]:
        """What a full tensor is made of."""
        ...

    def bytes_of(self, name: str) -> bytes:
        """The original's bytes of a tensor of which ranks have values of their own."""
        ...

    def copy_small_files(self, out: Path) -> list[str]:
        """Config, tokenizer and the like; returns the names of those that are too large."""
        ...


class Whole:
    """A checkpoint of whole tensors."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.config, self.headers, self.digest = source.config, source.headers, source.digest

    def files(self, left_out: Collection[str]) -> Files:
        return original_files(self._source, left_out), original_index(self._source, left_out)

    def patches(self, name: str) -> tuple[Patch, ...]:
        header = self.headers[name]
        return (Patch(header, whole(header.shape), whole(header.shape)),)

    def bytes_of(self, name: str) -> bytes:
        header = self.headers[name]
        with Path(header.file).open("rb") as file:
            file.seek(header.begin)
            return file.read(header.end - header.begin)

    def copy_small_files(self, out: Path) -> list[str]:
        return copy_small_files(self._source.directory, out)


class FromRanks:
    """The ranks of another mesh."""

    def __init__(self, ranked: Ranked) -> None:
        self._ranked = ranked
        self.config = read_config(ranked.directory)
        self.headers, self.digest = ranked.headers, ranked.known.cut.source

    def files(self, left_out: Collection[str]) -> Files:
        return self._ranked.known.files, self._ranked.known.index_file

    def patches(self, name: str) -> tuple[Patch, ...]:
        return self._ranked.patches(name)

    def bytes_of(self, name: str) -> bytes:
        found = self._ranked.originals.get(name)
        if found is None:
            raise ShardError(("SHD417", f"{self._ranked.directory}: no rank has the original's bytes of {name}"))
        return found

    def copy_small_files(self, out: Path) -> list[str]:
        return copy_small_files(self._ranked.directory, out)


def open_origin(directory: Path, spec: Spec) -> Origin:
    """What a directory is. Raises SHD415 where its ranks were cut by another spec, and what reading it raises."""
    if not (directory / SET_MANIFEST).is_file():
        return Whole(read_source(directory))
    ranked = Ranked(directory)
    cut = ranked.known.cut
    if (cut.spec, cut.digest) != (spec.name, spec.digest):
        text = f"{directory} was cut by {cut.spec} {cut.digest}, and this is {spec.name} {spec.digest}"
        raise ShardError(("SHD415", f"{text}: merge it, and cut the original anew"))
    return FromRanks(ranked)
