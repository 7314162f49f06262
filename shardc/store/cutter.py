"""Writing one rank's files, from whole tensors or from the files of ranks of another mesh."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import torch
from msgspec import Struct

from shardc.runtime.dtypes import TORCH_DTYPES
from shardc.runtime.errors import ShardError
from shardc.runtime.headers import Header
from shardc.runtime.indexes import INDEX
from shardc.runtime.manifests import (
    RANK_MANIFEST,
    Cut,
    RankLayout,
    RankManifest,
    SetManifest,
    header_digest,
    rank_folder,
    read_rank,
)
from shardc.runtime.regions import whole_dim
from shardc.runtime.shards import Layout, Shard
from shardc.store.loader import spec_of
from shardc.store.manifests import rank_text, write_set
from shardc.store.origins import Origin, open_origin
from shardc.store.parts import PART_BYTES, Naming
from shardc.store.patches import Content, cut_patches
from shardc.store.planner import Planner
from shardc.store.rank_files import File, files_of, has_size, index_text, is_there
from shardc.store.ranked import IGNORED
from shardc.store.reader import Reader
from shardc.store.writer import Progress, write_file, write_text


class Order(Struct, frozen=True):
    """What is asked: `origin`, a checkpoint or ranks' files of one, cut for `mesh` into `out`.

    module: the code of the generated module. part_bytes: of tensors in a file, at most. keep_ignored: also the tensors
    that the spec ignores, whole.
    """

    module: str
    origin: Path
    out: Path
    mesh: Mapping[str, int]
    part_bytes: int = PART_BYTES
    naming: Naming = "shardc"
    keep_ignored: bool = True


class Written(NamedTuple):
    """What came of one folder: bytes in its files; kept: of those, bytes of files that were there already."""

    folder: str
    files: int
    bytes: int
    kept: int


class Cutter:
    """Folders of ranks, one at a time. Everything is checked against headers before a byte is written."""

    def __init__(self, order: Order) -> None:
        """Raises ShardError for a checkpoint that the spec does not describe, or a set of another spec."""
        self.order = order
        spec = spec_of(order.module)
        self.origin: Origin = open_origin(order.origin, spec)
        self.planner = Planner(spec, self.origin.config, self.origin.headers, order.mesh)
        left_out = () if order.keep_ignored else self.planner.ignored
        self.cut = Cut(spec.name, spec.digest, self.planner.mesh, self.origin.digest)
        self.set = SetManifest(self.cut, *self.origin.files(left_out))
        self.reader = Reader()

    def folders(self, ranks: Iterable[int]) -> list[str]:
        """The folders of some ranks; what the spec ignores goes with rank 0."""
        found = [rank_folder(rank) for rank in ranks]
        has_ignored = self.order.keep_ignored and bool(self.planner.ignored)
        return [*found, IGNORED] if has_ignored and rank_folder(0) in found else found

    def begin(self) -> list[str]:
        """Writes what all ranks share; the names of large files that were not copied. Raises SHD416."""
        self.order.out.mkdir(parents=True, exist_ok=True)
        write_set(self.order.out, self.set)
        return self.origin.copy_small_files(self.order.out)

    def missing(self) -> list[int]:
        """The ranks that nobody has written yet."""
        out = self.order.out
        return [at for at in range(self.planner.ranks) if not (out / rank_folder(at) / RANK_MANIFEST).is_file()]

    def bytes_of(self, folder: str) -> int:
        """Bytes of tensors in a folder."""
        return sum(content.nbytes for content in self._contents(self._shards(folder)))

    def write(self, folder: str, progress: Progress) -> Written:
        """A folder's files, then its manifest; files that are there and are the same are kept."""
        shards = self._shards(folder)
        files = files_of(self.order.naming, folder, self._contents(shards), self.order.part_bytes, self.cut)
        manifest = self._manifest(files, shards)
        target = self.order.out / folder / RANK_MANIFEST
        total = sum(file.bytes for file in files)
        if self._is_done(folder, manifest):
            progress(sum(content.nbytes for file in files for content in file.contents))
            return Written(folder, len(files), total, total)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        self._remove_others(folder, {file.name for file in files})
        by_name = {shard.name: shard for shard in shards}
        kept = sum(self._write(file, by_name, progress) for file in files)
        if self.order.naming == "shardc":
            write_text(target.parent / INDEX, index_text(files))
        write_text(target, rank_text(manifest))
        return Written(folder, len(files), total, kept)

    def _write(self, file: File, shards: Mapping[str, Shard], progress: Progress) -> int:
        """One file, unless it is there; bytes of it that are kept."""
        path = self.order.out / file.name
        if is_there(path, file):
            progress(sum(content.nbytes for content in file.contents))
            return file.bytes
        contents = (self._filled(content, shards[content.name]) for content in file.contents)
        write_file(path, file.text, contents, self.reader, progress)
        return 0

    def _shards(self, folder: str) -> list[Shard]:
        """What a folder has, in the order in which the original has it."""
        headers = self.origin.headers
        if folder == IGNORED:
            found = [ignored_shard(name, headers[name]) for name in self.planner.ignored]
        else:
            found = self.planner.shards(int(folder.removeprefix("rank-")))
        return sorted(found, key=lambda shard: (Path(headers[shard.name].file).name, headers[shard.name].begin))

    def _contents(self, shards: Iterable[Shard]) -> Iterator[Content]:
        return (Content(shard.name, shard.dtype, shard.local_shape) for shard in shards)

    def _filled(self, content: Content, shard: Shard) -> Content:
        """A tensor with where it comes from."""
        if shard.values is not None:
            return content._replace(given=bytes_of(shard.values, shard.dtype))
        return content._replace(patches=tuple(cut_patches(self.origin.patches(shard.name), shard.at)))

    def _manifest(self, files: Iterable[File], shards: Iterable[Shard]) -> RankManifest:
        known = {file.name: (file.bytes, header_digest(file.text)) for file in files}
        layouts = {shard.name: RankLayout(shard.shape, shard.at) for shard in shards}
        originals = {shard.name: self.origin.bytes_of(shard.name) for shard in shards if shard.values is not None}
        return RankManifest(self.cut, known, layouts, originals)

    def _is_done(self, folder: str, manifest: RankManifest) -> bool:
        """True where an earlier run has written all of a folder, and nothing has changed since."""
        if not (self.order.out / folder / RANK_MANIFEST).is_file():
            return False
        try:
            found = read_rank(self.order.out, folder)
        except ShardError:
            return False
        return found == manifest and all(
            has_size(self.order.out / name, size) for name, (size, _) in manifest.files.items()
        )

    def _remove_others(self, folder: str, names: set[str]) -> None:
        """Files of this folder that an earlier run named otherwise, and what a stopped one left behind."""
        out = self.order.out
        found = [*(out / folder).glob("*.safetensors"), *(out / folder).glob(".*.safetensors.*")]
        found += [*out.glob(f"model-{folder}-part-*.safetensors"), *out.glob(f".model-{folder}-part-*")]
        for path in found:
            if path.relative_to(out).as_posix() not in names:
                path.unlink()


def ignored_shard(name: str, header: Header) -> Shard:
    """A tensor that is kept whole."""
    dtype, shape = header[:2]
    return Shard(name, Layout("replicated", "dense", dtype, (dtype,), None, shape, tuple(map(whole_dim, shape))))


def bytes_of(values: Iterable[int], dtype: str) -> bytes:
    """Whole numbers as they are in a file."""
    return bytes(torch.tensor(list(values), dtype=TORCH_DTYPES[dtype]).view(torch.uint8).tolist())
