"""What the ranks of a mesh keep of a tensor, in a form that is equal where the bytes are.

Names of axes, groups and symbols do not take part in it, nor do mesh dims whose ranks all keep the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from typing import TypeVar

from msgspec import Struct

from shardc.layout.regions import Regions
from shardc.layout.split import Split
from shardc.plan.family import Family
from shardc.plan.plan import Coords, Plan
from shardc.plan.stages import ranks_at
from shardc.plan.stored_dims import StoredDim, stored_dims
from shardc.review.by_rank import ByRank
from shardc.review.compare.pairs import Held

_Value = TypeVar("_Value", bound=Hashable)


class Content(Struct, frozen=True):
    """What the ranks keep of tensors that are alike. `dims` has the regions of each dim; `on` says who has any."""

    load: str
    shape: tuple[int, ...]
    dims: tuple[ByRank[Regions], ...]
    on: tuple[ByRank[bool], ...]

    def regions(self, rank: Coords) -> tuple[Regions, ...]:
        return tuple(dim.at(rank) for dim in self.dims)


class Ranks:
    """A number for each way in which ranks keep a name: equal for two versions where the ways are."""

    def __init__(self) -> None:
        self._numbers: dict[ByRank[bool], int] = {}
        self._ways: list[ByRank[bool]] = []

    def number(self, way: ByRank[bool]) -> int:
        if way not in self._numbers:
            self._numbers[way] = len(self._ways)
            self._ways.append(way)
        return self._numbers[way]

    def way(self, number: int) -> ByRank[bool]:
        return self._ways[number]


class Contents:
    """The contents of one bound spec over the meshes that are tried; what is cut alike is worked out once."""

    def __init__(self, ranks: Ranks) -> None:
        self.ranks = ranks
        self._dims: dict[Hashable, ByRank[Regions]] = {}
        self._owners: dict[Hashable, tuple[int, ...]] = {}

    def of(self, plan: Plan, held: Held) -> Content:
        """CutError where a unit would be cut."""
        dims = stored_dims(held.family, held.part)
        on = (
            by_rank([over], [plan.mesh.get(over, 1)], [r in ranks_at(ends, plan.mesh.get(over, 1)) for r in ranks])
            for over, ends in sorted(held.family.entry.on.items())
            for ranks in [range(plan.mesh.get(over, 1))]
        )
        return Content(
            held.part.load,
            tuple(dim.size for dim in dims),
            tuple(self._dim(plan, dim) for dim in dims),
            tuple(one for one in on if one.over),
        )

    def owners(self, plan: Plan, held: Held) -> dict[str, tuple[int, ...]]:
        """By mesh dim whose ranks keep different names: for each of the tensors that are meant, who keeps it."""
        out = {}
        for axis in held.family.selecting:
            split = plan.splits_of(held.family)[axis]
            column = self._selected(split, held.family, axis)
            if any(self.ranks.way(number).over for number in set(column)):
                every = len(held.at) == len(column)
                out[split.over] = column if every else tuple([column[i] for i in held.at])
        return out

    def _dim(self, plan: Plan, dim: StoredDim) -> ByRank[Regions]:
        sizes = plan.sizes_of(dim)
        key = (dim.alike, dim.over, sizes)
        if key not in self._dims:
            self._dims[key] = by_rank(dim.over, sizes, plan.cut_everywhere(dim))
        return self._dims[key]

    def _selected(self, split: Split, family: Family, axis: str) -> tuple[int, ...]:
        """For each name of the family, the ranks that keep its element of the axis."""
        key = (id(family), axis, len(split.shares))
        if key not in self._owners:
            who = {
                element: by_rank([split.over], [len(split.shares)], [element in share for share in split.shares])
                for element in set(family.elements[axis])
            }
            numbers = {element: self.ranks.number(way) for element, way in who.items()}
            self._owners[key] = tuple([numbers[element] for element in family.elements[axis]])
        return self._owners[key]


def by_rank(over: Sequence[str], sizes: Sequence[int], values: Sequence[_Value]) -> ByRank[_Value]:
    """Without the mesh dims on which nothing depends, the others by name; `values` as in ByRank."""
    table = dict(zip(itertools.product(*map(range, sizes)), values, strict=True))
    kept = [i for i in range(len(over)) if any(value != table[_moved(at, i)] for at, value in table.items())]
    kept.sort(key=lambda i: over[i])
    left = {
        tuple(at[i] for i in kept): value
        for at, value in table.items()
        if all(at[i] == 0 for i in range(len(over)) if i not in kept)
    }
    found = tuple(left[at] for at in sorted(left))
    return ByRank(tuple(over[i] for i in kept), tuple(sizes[i] for i in kept), found)


def _moved(at: tuple[int, ...], i: int) -> tuple[int, ...]:
    """The rank that is first on mesh dim `i`."""
    return (*at[:i], 0, *at[i + 1 :])
