"""How many of a family's names each rank keeps: experts and layers are dealt by name."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable

from shardc.plan.family import Family
from shardc.plan.plan import Plan
from shardc.plan.resolved import in_order
from shardc.plan.stages import is_on
from shardc.review.by_rank import ByRank


class Kept(ByRank[int], frozen=True):
    """How many names a rank has; every rank has all where it depends on no mesh dim."""

    def data(self) -> dict[str, object]:
        return {"o": self.over, "s": self.sizes, "c": self.values}

    def __add__(self, other: Kept) -> Kept:
        """Of two families that are dealt over the same mesh dims."""
        return Kept(self.over, self.sizes, tuple(a + b for a, b in zip(self.values, other.values, strict=True)))


class KeptNames:
    """Counts by family, over the meshes of one bound spec."""

    def __init__(self) -> None:
        self._seen: dict[Hashable, Kept] = {}

    def of(self, plan: Plan, family: Family) -> Kept:
        """What `plan` deals of the names of a family (all parts of a format alike)."""
        splits = plan.splits_of(family)
        over = {splits[axis].over for axis in family.selecting} | set(family.entry.on)
        dims = tuple(dim for dim in in_order(over) if plan.mesh.get(dim, 1) > 1)
        key = id(family), *((dim, plan.mesh[dim]) for dim in dims)
        if key not in self._seen:
            self._seen[key] = _count(plan, family, dims)
        return self._seen[key]


def _count(plan: Plan, family: Family, dims: tuple[str, ...]) -> Kept:
    splits = plan.splits_of(family)
    cut = [axis for axis in family.selecting if splits[axis].over in dims]
    # Names whose elements are on the same ranks of every axis are counted together: there are few such ways.
    holders = []
    for axis in cut:
        shares = splits[axis].shares
        on = {e: tuple(r for r, share in enumerate(shares) if e in share) for e in set(family.elements[axis])}
        holders.append([on[e] for e in family.elements[axis]])
    ways = Counter(zip(*holders, strict=True)) if cut else Counter({(): len(family.names)})
    sizes = tuple(plan.mesh[dim] for dim in dims)
    counts = []
    for at in itertools.product(*map(range, sizes)):
        rank = dict(zip(dims, at, strict=True))
        places = [rank[splits[axis].over] for axis in cut]
        here = sum(n for way, n in ways.items() if all(r in on for r, on in zip(places, way, strict=True)))
        counts.append(here if is_on(family.entry.on, plan.mesh, rank) else 0)
    return Kept(dims, sizes, tuple(counts))
