"""The dims of stored tensors, and which of them are cut alike.

A spec has many tensors and few layouts: what is tried, proved or counted on one dim holds for all that are alike.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cached_property

from msgspec import Struct

from shardc.layout.expr import segments_of
from shardc.layout.nested import nested_parts
from shardc.layout.regions import size
from shardc.layout.units import check_nested, entries
from shardc.plan.family import Family
from shardc.plan.resolved import PartDim
from shardc.plan.stored import StoredPart


class StoredDim(Struct, frozen=True, dict=True):
    """Dim `i` of a stored tensor.

    It follows dim `dim` of the weight (None: none), in the units that `unit` says (None: element by element).
    """

    family: Family
    part: StoredPart
    i: int
    dim: int | None
    unit: PartDim | None

    @cached_property
    def over(self) -> tuple[str, ...]:
        """The mesh dims whose ranks keep different rows of it."""
        if self.dim is None or (self.unit and self.unit.whole):
            return ()
        return self.family.over[self.dim]

    @cached_property
    def alike(self) -> Hashable:
        """Equal for dims of one bound spec that are cut alike on every mesh."""
        if self.dim is None:
            return self.unit
        entry = self.family.entry
        env = self.family.env_key
        rank0 = (self.family.summed or "tp") if entry.rank0_dim == self.dim else None
        return id(entry.dims[self.dim]), env, self.family.shape[self.dim], self.unit, rank0

    @cached_property
    def ratio(self) -> tuple[int, int]:
        """(unit, count): `count` entries for each `unit` elements of the weight."""
        if self.unit is None:
            return 1, 1
        assert isinstance(self.unit.unit, int) and isinstance(self.unit.count, int)
        return self.unit.unit, self.unit.count

    @cached_property
    def size(self) -> int:
        """The full size, in elements of the stored tensor; CutError (SHD213) where units do not come out whole."""
        unit, count = self.ratio
        if self.dim is None:
            return count
        if self.unit is None:
            return self.family.shape[self.dim]
        return entries(self.segments, unit, count, self.unit.ceil)

    @cached_property
    def segments(self) -> tuple[int, ...]:
        """Sizes of the segments of the weight's dim that it follows."""
        assert self.dim is not None
        return segments(self.family, self.dim)

    def check_nested(self) -> None:
        """CutError (SHD213) where a unit would span two parts of a concatenation inside a product."""
        if self.dim is not None:
            check_nested(nested_parts(self.family.entry.dims[self.dim], self.family.scope), self.ratio[0])


def stored_dims(family: Family, part: StoredPart) -> list[StoredDim]:
    """The dims of one stored tensor; none for a scalar, or one of a single element where the file has it so."""
    if part.is_scalar:
        return [StoredDim(family, part, i, None, PartDim(None, 1, count=n)) for i, n in enumerate(part.scalar)]
    if part.part is None:
        return [StoredDim(family, part, dim, dim, None) for dim in range(len(family.shape))]
    leads = family.entry.leads
    dims = [StoredDim(family, part, dim, dim, None) for dim in range(leads)]
    roles = {"out": family.entry.out_dim, "in": family.entry.in_dim, None: None}
    for i, unit in enumerate(part.part.dims, start=leads):
        dims.append(StoredDim(family, part, i, roles[unit.role], unit))
    return dims


def grouped(families: Iterable[Family]) -> list[list[StoredDim]]:
    """All dims of all stored tensors, those that are cut alike together."""
    groups: dict[Hashable, list[StoredDim]] = {}
    for family in families:
        for part in family.stored.parts:
            for dim in stored_dims(family, part):
                groups.setdefault(dim.alike, []).append(dim)
    return list(groups.values())


def segments(family: Family, dim: int) -> tuple[int, ...]:
    """Sizes of the segments of a weight's dim; one where it is no concatenation."""
    return tuple(size(part, family.scope) for part in segments_of(family.entry.dims[dim], {}))
