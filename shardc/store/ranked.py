"""What `shardc shard` wrote, as a place to read whole tensors from: every region, and every rank that has it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import pairwise, product
from math import prod
from pathlib import Path

from shardc.runtime.errors import Finding, ShardError
from shardc.runtime.headers import Header
from shardc.runtime.manifests import (
    MAX_RECTANGLES,
    RANK_MANIFEST,
    SET_MANIFEST,
    RankLayout,
    RankManifest,
    rank_folder,
    read_set,
)
from shardc.runtime.presharded import open_rank, rank_headers
from shardc.runtime.rectangles import Rectangle
from shardc.runtime.regions import Spans, local_size, pieces
from shardc.store.blocks import shape_of
from shardc.store.patches import Patch

#: The folder of the tensors that the spec ignores: they are nobody's, and kept whole.
IGNORED = "ignored"
#: (folder, place in its local tensor) of each rank that has a region.
Holders = list[tuple[str, Rectangle]]


class Ranked:
    """A directory of ranks' files, complete and of one run.

    Raises SHD113 (it is none), and SHD406, SHD407, SHD416 and SHD417 with every fault of its files.
    """

    def __init__(self, directory: Path) -> None:
        if not (directory / SET_MANIFEST).is_file():
            raise ShardError(("SHD113", f"{directory} has no {SET_MANIFEST}: it is not what `shardc shard` writes"))
        self.directory = directory
        self.known = read_set(directory)
        self.headers = self.known.headers()
        self.manifests: dict[str, RankManifest] = {}
        self.local: dict[str, dict[str, Header]] = {}
        findings: list[Finding] = []
        for folder in self._folders():
            try:
                self.manifests[folder] = open_rank(directory, folder, self.known)
                self.local[folder] = rank_headers(directory, folder, self.manifests[folder])
            except ShardError as error:
                findings += error.findings
        if findings:
            raise ShardError(*findings)
        self.originals = {name: data for one in self.manifests.values() for name, data in one.originals.items()}
        self._by_layouts: dict[tuple[tuple[str, int], ...], dict[Rectangle, Holders]] = {}

    @property
    def ranks(self) -> int:
        """How many there are."""
        return prod(size for _, size in self.known.cut.mesh)

    def _folders(self) -> list[str]:
        ranks = [rank_folder(rank) for rank in range(self.ranks)]
        return [*ranks, IGNORED] if (self.directory / IGNORED / RANK_MANIFEST).is_file() else ranks

    def layouts(self, name: str) -> dict[str, RankLayout]:
        """How each rank that has a tensor keeps it, by the rank's folder."""
        return {folder: one.layouts[name] for folder, one in self.manifests.items() if name in one.layouts}

    def patches(self, name: str) -> tuple[Patch, ...]:
        """What the full tensor is made of: each region of it once, from the first rank that has it."""
        return tuple(self._patch(name, full, holders[0]) for full, holders in self._regions(name).items())

    def replicas(self, name: str) -> tuple[Patch, ...]:
        """The same regions, from every further rank."""
        regions = self._regions(name).items()
        return tuple(self._patch(name, full, holder) for full, holders in regions for holder in holders[1:])

    def _patch(self, name: str, full: Rectangle, holder: tuple[str, Rectangle]) -> Patch:
        folder, source = holder
        return Patch(self.local[folder][name], source, full, folder)

    def _regions(self, name: str) -> dict[Rectangle, Holders]:
        """Regions that tile the full tensor, none of which only partly lies in what a rank has.

        Raises SHD417 where some of it is on no rank.
        """
        layouts = self.layouts(name)
        for folder, layout in layouts.items():
            self._check(name, folder, layout)
        key = tuple((folder, id(layout)) for folder, layout in layouts.items())
        if key not in self._by_layouts:
            self._by_layouts[key] = regions_of(layouts)
        found = self._by_layouts[key]
        if sum(prod(shape_of(full)) for full in found) != prod(self.headers[name].shape):
            raise ShardError(("SHD417", f"{self.directory}: no rank has all of {name}, or all of them together"))
        return found

    def _check(self, name: str, folder: str, layout: RankLayout) -> None:
        """Raises SHD406 where a rank's file has something else than its manifest says."""
        dtype, shape = self.headers[name][:2]
        local = tuple(map(local_size, layout.at))
        found = self.local[folder][name]
        if layout.shape != shape or found[:2] != (dtype, local):
            expected = f"{dtype} {list(local)} of {list(layout.shape)}"
            text = f"{name} is {found.dtype} {list(found.shape)} of {list(shape)}, {expected} by {RANK_MANIFEST}"
            raise ShardError(("SHD406", f"{folder}: {text}"))


def regions_of(layouts: dict[str, RankLayout]) -> dict[Rectangle, Holders]:
    """Each region of the full tensor that some rank has, cut wherever one rank's region ends, and who has it.

    Raises SHD406 where the ranks' dims do not agree, or there are too many regions.
    """
    found: dict[Rectangle, Holders] = {}
    ends = [cuts(dims) for dims in zip(*(layout.at for layout in layouts.values()), strict=True)]
    if prod(map(len, ends)) > MAX_RECTANGLES:
        raise ShardError(("SHD406", f"{RANK_MANIFEST}: {prod(map(len, ends))} regions of one tensor are too many"))
    for folder, layout in layouts.items():
        for runs in product(*(list(refined(spans, cut)) for spans, cut in zip(layout.at, ends, strict=True))):
            full = tuple((start, stop) for start, stop, _ in runs)
            local = tuple((to, to + stop - start) for start, stop, to in runs)
            found.setdefault(full, []).append((folder, local))
    return found


def cuts(dims: Iterable[Spans]) -> list[int]:
    """Where some rank's region of a dim begins or ends."""
    return sorted({end for spans in set(dims) for start, stop, _ in spans for end in (start, stop)})


def refined(spans: Spans, ends: list[int]) -> Iterator[tuple[int, int, int]]:
    """The pieces of a dim, each cut at every end that lies in it: (start, stop, local start)."""
    for start, stop, local in pieces(spans):
        for low, high in pairwise(ends[bisect_left(ends, start) : bisect_right(ends, stop)]):
            yield low, high, local + low - start
