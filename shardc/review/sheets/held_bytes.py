"""Bytes of ranks: of rank 0 in parts, and of the ranks with the least and the most."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping
from math import prod

from msgspec import Struct

from shardc.layout.share import Share
from shardc.plan.family import Family
from shardc.plan.names import Names
from shardc.plan.plan import Plan
from shardc.plan.resolved import in_order
from shardc.plan.stages import ranks_at
from shardc.plan.stored import StoredPart
from shardc.plan.totals import is_shared
from shardc.review.sheets.cuts import Cut, Cuts, OnMesh
from shardc.spec.dtypes import SIZES


class RankBytes(Struct, frozen=True):
    """`least` and `most` of any rank, in the dtypes that it loads; `padding` is the most zero fill of any."""

    least: int
    most: int
    padding: int


#: What depends on the rank of some mesh dims: their names, and a number for each of their coordinates in turn.
_Factor = tuple[tuple[str, ...], tuple[int, ...]]
#: Bytes that add up, by the mesh dims whose ranks hold different amounts.
_Sums = dict[tuple[str, ...], list[int]]


class Bytes:
    """The bytes of ranks on any number of meshes. What the same mesh dims decide is added up once for each size."""

    def __init__(self, cuts: Cuts) -> None:
        self._cuts = cuts
        self._by_dims: dict[tuple[str, ...], list[tuple[Family, StoredPart]]] = {}
        self._sums: dict[Hashable, tuple[_Sums, _Sums]] = {}
        for family in cuts.bound.families:
            axes = cuts.bound.axes_of(family)
            named = {axes[axis].over for axis in family.selecting} | {*family.entry.on}
            for part in family.stored.parts:
                dims = in_order(named.union(*(dim.over for dim in cuts.dims(part))))
                self._by_dims.setdefault(dims, []).append((family, part))

    def on(self, on: OnMesh) -> RankBytes:
        """The bytes of the ranks of a mesh that works."""
        local: _Sums = {}
        padding: _Sums = {}
        for dims in self._by_dims:
            for to, sums in zip((local, padding), self._sum(dims, on), strict=True):
                for over, held in sums.items():
                    to[over] = _added(to.get(over), held)
        ranks = _by_rank(local, on.mesh)
        return RankBytes(min(ranks), max(ranks), max(_by_rank(padding, on.mesh)))

    def replicated(self, on: OnMesh) -> int:
        """What rank 0 holds that others hold too."""
        out = 0
        for family in on.plan.families:
            for part in family.stored.parts:
                cut = self._cuts.cut(family, part, on)
                kept = prod(numbers[0] for _, numbers in _kept(on.plan, family, part)) * SIZES[part.load]
                shared = is_shared(on.plan, family, self._cuts.dims(part))
                alone = 0 if shared else prod(one.rows_alone for one in cut)
                out += (prod(one.rows[0] for one in cut) - alone) * kept
        return out

    def _sum(self, dims: tuple[str, ...], on: OnMesh) -> tuple[_Sums, _Sums]:
        """The bytes of the tensors that these mesh dims decide, and those of their zero fill."""
        key = dims, tuple(on.mesh.get(dim, 1) for dim in dims)
        if key not in self._sums:
            local: _Sums = {}
            padding: _Sums = {}
            for family, part in self._by_dims[dims]:
                cut = self._cuts.cut(family, part, on)
                kept: list[_Factor] = [((), (SIZES[part.load],)), *_kept(on.plan, family, part)]
                held = [*kept, *(_factor(one, one.locals) for one in cut)]
                over = _dims(held)
                local[over] = _added(local.get(over), _product(held, over, on.mesh))
                if any(one.rows != one.locals for one in cut):
                    real = [*kept, *(_factor(one, one.rows) for one in cut)]
                    over = _dims([*held, *real])
                    both = zip(_product(held, over, on.mesh), _product(real, over, on.mesh), strict=True)
                    padding[over] = _added(padding.get(over), [a - b for a, b in both])
            self._sums[key] = local, padding
        return self._sums[key]


def _added(one: list[int] | None, other: list[int]) -> list[int]:
    return other if one is None else [a + b for a, b in zip(one, other, strict=True)]


def _by_rank(sums: _Sums, mesh: Mapping[str, int]) -> list[int]:
    """The sums by rank, on all mesh dims that they depend on."""
    every = in_order({dim for over in sums for dim in over})
    ranks = [0] * prod(mesh[dim] for dim in every)
    for over, held in sums.items():
        ranks = _added(ranks, _spread((over, tuple(held)), every, mesh))
    return ranks


def _dims(factors: list[_Factor]) -> tuple[str, ...]:
    return in_order({dim for dims, _ in factors for dim in dims})


def _factor(cut: Cut, by_rank: tuple[int, ...]) -> _Factor:
    """What is so on each rank of a cut; a single number where it is on all."""
    return ((), by_rank[:1]) if min(by_rank) == max(by_rank) else (cut.dim.over, by_rank)


def _kept(plan: Plan, family: Family, part: StoredPart) -> list[_Factor]:
    """How many names of a stored tensor ranks keep, as factors."""
    out: list[_Factor] = []
    for over, ends in family.entry.on.items():
        size = plan.mesh.get(over, 1)
        here = ranks_at(ends, size)
        if len(here) < size:
            out.append(((over,), tuple(int(rank in here) for rank in range(size))))
    if all(plan.mesh.get(plan.bound.axes_of(family)[axis].over, 1) == 1 for axis in family.selecting):
        return [*out, ((), (part.count,))]
    elements = _elements(part.weights)
    if elements is None:
        splits = plan.splits_of(family)
        dims = in_order({splits[axis].over for axis in family.selecting})
        ranks = itertools.product(*(range(plan.mesh.get(dim, 1)) for dim in dims))
        anywhere = {dim: min(ranks_at(ends, plan.mesh.get(dim, 1))) for dim, ends in family.entry.on.items()}
        at = [dict(anywhere, **dict(zip(dims, rank, strict=True))) for rank in ranks]
        return [*out, (dims, tuple(len(plan.kept(family, part.names, rank)) for rank in at))]
    rest = part.count
    for axis, held in elements.items():
        split = plan.splits_of(family)[axis]
        rest //= sum(stop - start for start, stop in held)
        counts = tuple(_overlap(share, held) for share in split.shares)
        out.append(((split.over,), counts) if len(set(counts)) > 1 else ((), counts[:1]))
    return [*out, ((), (rest,))]


def _elements(names: Names) -> dict[str, list[tuple[int, int]]] | None:
    """The elements [start, stop) of each axis that selects names; None where one axis depends on another."""
    selecting, inner = names.selecting, dict(names.inner)
    if names.only is not None or sum(index not in inner for index in selecting.values()) > 1:
        return None if selecting else {}
    return {
        axis: [(inner[index].start, inner[index].stop)]
        if index in inner
        else [(env[index], env[index] + 1) for env in names.outer]
        for axis, index in selecting.items()
    }


def _overlap(share: Share, held: list[tuple[int, int]]) -> int:
    return sum(max(0, min(a, b) - max(c, d)) for c, a in share.runs for d, b in held)


def _product(factors: list[_Factor], over: tuple[str, ...], mesh: Mapping[str, int]) -> list[int]:
    return [prod(numbers) for numbers in zip(*(_spread(one, over, mesh) for one in factors), strict=True)]


def _spread(factor: _Factor, over: tuple[str, ...], mesh: Mapping[str, int]) -> list[int]:
    """A factor for each coordinate on all of `over`."""
    dims, numbers = factor
    if dims == over:
        return list(numbers)
    if len(numbers) == 1:
        return list(numbers) * prod(mesh[dim] for dim in over)
    sizes = [mesh[dim] for dim in dims]
    every = dict(zip(itertools.product(*map(range, sizes)), numbers, strict=True))
    where = [over.index(dim) for dim in dims]
    ranks = itertools.product(*(range(mesh[dim]) for dim in over))
    return [every[tuple(rank[i] for i in where)] for rank in ranks]
