"""The cuts of a report, each once: an axis is dealt once, so thousands of tensors are cut in a few ways."""

from __future__ import annotations

from collections.abc import Hashable

from msgspec import Struct

from shardc.layout.regions import Regions
from shardc.layout.split import Split
from shardc.plan.plan import Plan
from shardc.plan.stored_dims import StoredDim
from shardc.review.by_rank import ByRank

_SHORTEST_RUN = 3


class Cut(Struct, frozen=True):
    """A dim of `size` elements, and the regions of each rank."""

    size: int
    ranks: ByRank[Regions]

    def data(self) -> dict[str, object]:
        """Short keys: n the size, o and s the mesh dims and their sizes, r the regions, runs of alike ones as one."""
        of = self.ranks
        return {"n": self.size, "o": of.over, "s": of.sizes, "r": [in_runs(regions) for regions in of.values]}


class CutTable:
    """Cuts by number. One table serves all meshes, and all sides of a comparison."""

    def __init__(self) -> None:
        self._cuts: dict[Cut, int] = {}

    def add(self, cut: Cut) -> int:
        return self._cuts.setdefault(cut, len(self._cuts))

    def data(self) -> list[dict[str, object]]:
        return [cut.data() for cut in self._cuts]


class PlanCuts:
    """The cuts of one plan, put into a table."""

    def __init__(self, plan: Plan, table: CutTable) -> None:
        self.plan, self.table = plan, table
        self._seen: dict[Hashable, int] = {}

    def dim(self, dim: StoredDim) -> int:
        """The number of a stored tensor's dim; `plan` is free of faults."""
        key = dim.alike, dim.over
        if key not in self._seen:
            regions = tuple(self.plan.cut_everywhere(dim))
            self._seen[key] = self.table.add(Cut(dim.size, ByRank(dim.over, self.plan.sizes_of(dim), regions)))
        return self._seen[key]

    def axis(self, split: Split) -> int:
        """The number of an axis as it is dealt."""
        regions = tuple(share.with_padding for share in split.shares)
        return self.table.add(Cut(split.size, ByRank((split.over,), (len(split.shares),), regions)))


def in_runs(regions: Regions) -> list[list[int]]:
    """Each region as [start, stop], or [start, stop, pad], or [start, stop, 0, step, count] for a run of alike ones."""
    out: list[list[int]] = []
    i = 0
    while i < len(regions):
        count = _run_length(regions, i)
        start, stop, pad = regions[i]
        if count >= _SHORTEST_RUN:
            out.append([start, stop, 0, regions[i + 1][0] - start, count])
            i += count
            continue
        out.append([start, stop, pad] if pad else [start, stop])
        i += 1
    return out


def _run_length(regions: Regions, i: int) -> int:
    """How many regions from `i` on are as long as the first and as far apart, without padding."""
    start, stop, pad = regions[i]
    if pad or i + 1 == len(regions):
        return 1
    step = regions[i + 1][0] - start
    count = 1
    for a, b, p in regions[i + 1 :]:
        if p or b - a != stop - start or a != start + step * count:
            break
        count += 1
    return count
