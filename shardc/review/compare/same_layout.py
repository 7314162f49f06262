"""Whether tensors are cut alike on every mesh, not only on those that were tried."""

from __future__ import annotations

from collections.abc import Hashable, Set
from math import lcm

from msgspec.structs import replace

from shardc.layout.evaluate import number
from shardc.layout.normal_form import NormalForm, Repeated, normal_form
from shardc.layout.regions import Scope
from shardc.plan.bound import Bound
from shardc.plan.family import Family
from shardc.plan.stored_dims import StoredDim, stored_dims
from shardc.review.compare.pairs import Held, Pair


def cut_alike(pair: Pair, before: Layouts, after: Layouts) -> bool:
    """Whether every rank of every mesh keeps the same of tensors that both versions have."""
    assert pair.before is not None and pair.after is not None
    return before.of(pair.before) == after.of(pair.after)


class Layouts:
    """The layouts of a bound spec in a form that is equal where the cuts are.

    Axes take part by their size and how they are dealt, and by no name. Those over other mesh dims than `mesh_dims`,
    which both versions have, are whole: on a mesh that both load, such a mesh dim has one rank.
    """

    def __init__(self, bound: Bound, mesh_dims: Set[str]) -> None:
        self._bound = bound
        self._mesh_dims = mesh_dims
        self._axes: dict[Hashable, Hashable] = {}

    def of(self, held: Held) -> Hashable:
        """What decides who keeps what: the dims, the ranks that have any, and the elements that select names."""
        family, part = held.family, held.part
        dims = tuple(map(self._dim, stored_dims(family, part)))
        if part.part is not None and part.part.values:  # Its elements are sizes of the weight.
            dims += tuple(self._form(family, dim) for dim in range(len(family.shape)))
        axes = self._bound.axes_of(family)
        selecting = tuple(
            (self._axis(axis, family), tuple([family.elements[axis][i] for i in held.at]))
            for axis in family.selecting
            if axes[axis].over in self._mesh_dims
        )
        on = tuple(sorted((over, ends) for over, ends in family.entry.on.items() if over in self._mesh_dims))
        return part.load, dims, on, selecting

    def _dim(self, dim: StoredDim) -> Hashable:
        if dim.dim is None:
            return dim.unit
        if self._mesh_dims.isdisjoint(dim.over):
            return dim.size
        return dim.unit, self._form(dim.family, dim.dim)

    def _form(self, family: Family, dim: int) -> Hashable:
        if family.entry.rank0_dim == dim:
            summed = self._axis(family.summed, family) if family.summed is not None else None
            return "rank0", family.shape[dim], summed
        return self._named(normal_form(family.entry.dims[dim], self._scope(family)), family)

    def _scope(self, family: Family) -> Scope:
        scope = family.scope
        whole = {name: split.size for name, split in scope.splits.items() if split.over not in self._mesh_dims}
        splits = {name: split for name, split in scope.splits.items() if name not in whole}
        return Scope({**scope.values, **whole}, splits)

    def _named(self, form: NormalForm, family: Family) -> Hashable:
        match form:
            case Repeated(str(axis), inner):
                return self._axis(axis, family), self._named(inner, family)
            case Repeated((child, parent), inner):
                return self._axis(child, family), self._axis(parent, family), self._named(inner, family)
            case Repeated(by, inner):
                return by, self._named(inner, family)
            case tuple():
                return "|", *(self._named(part, family) for part in form)
        return form

    def _axis(self, name: str, family: Family) -> Hashable:
        """Equal for axes that are dealt alike on every mesh; the granule is the one that formats ask for, too."""
        key = name, family.env_key
        if key not in self._axes:
            axis = self._bound.axes_of(family)[name]
            size = number(axis.size, {**self._bound.values, **family.env})
            if axis.within is not None:
                self._axes[key] = size, self._axis(axis.within, family)
            else:
                how = replace(axis.how, granule=lcm(axis.how.granule, self._bound.granules.get(name, 1)))
                self._axes[key] = size, axis.over, how
        return self._axes[key]
