"""The axes of a report: how each is declared, and how each mesh deals it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from shardc.layout.show import show
from shardc.layout.split import Dealing
from shardc.plan.bound import AxisKey, Bound
from shardc.plan.kinds import axes_of_dims
from shardc.plan.plan import Plan
from shardc.plan.resolved import Axis
from shardc.review.pages.cut_table import CutTable, PlanCuts

_PLAIN = Dealing()
#: Fields of how an axis is dealt, as a spec spells them.
_DEALING = ("granule", "if_uneven", "if_fewer", "replicas", "pad_to", "pad_local_to", "placement")


class AxisRow(Struct):
    """Axes of one name that are dealt alike on every mesh; `keys` has their indices. `cuts` has a cut a plan.

    `is_named` says whether a tensor names it, or an axis within it: a spec may have axes for other checkpoints.
    """

    axis: Axis
    keys: list[AxisKey]
    size: int
    granule: int
    cuts: tuple[int, ...]
    is_named: bool


def axis_rows(plans: Sequence[Plan], table: CutTable) -> list[AxisRow]:
    """The axes of plans of one bound spec: parents first, each followed by those within it."""
    bound = plans[0].bound
    cuts = [PlanCuts(plan, table) for plan in plans]
    named = _named(bound)
    found: dict[tuple[object, ...], AxisRow] = {}
    for key in plans[0].splits:
        split = plans[0].splits[key]
        name = key[0]
        axis = bound.resolved.axes.get(name) or _own(bound, name)
        cut = tuple(one.axis(plan.splits[key]) for one, plan in zip(cuts, plans, strict=True))
        new = AxisRow(axis, [], split.size, split.granule, cut, name in named)
        row = found.setdefault((axis.path, split.size, cut), new)
        row.keys.append(key)
    return _families(list(found.values()))


def axis_data(row: AxisRow, bound: Bound) -> dict[str, object]:
    """What an axis says on every mesh."""
    axis = row.axis
    out: dict[str, object] = {
        "name": axis.name,
        "formula": show(axis.size),
        "size": row.size,
        "over": axis.over,
        "role": axis.role,
        "granule": row.granule,
        "rule": _rules(axis.how),
    }
    if axis.within is not None:
        out["within"] = axis.within
    if not row.is_named:
        out["idle"] = 1
    if row.keys[0][1]:
        out["at"] = [", ".join(f"{index} {value}" for index, value in env) for _, env in row.keys]
    why = dict.fromkeys(
        f"{grain.granule}: {grain.format} has units of {grain.unit}, and one of {axis.name} takes {grain.stride}"
        for grain in bound.grains
        if grain.axis == axis.name
    )
    if why:
        out["why"] = list(why)
    return out


def _named(bound: Bound) -> set[str]:
    """The axes that tensors of the checkpoint name, and those that they are within."""
    out: set[str] = set()
    for family in bound.families:
        axes = bound.axes_of(family)
        used: list[str | None] = [*axes_of_dims(family.entry.dims, axes), *family.selecting]
        while used:
            name = used.pop()
            if name is not None and name not in out:
                out.add(name)
                used.append(axes[name].within)
    return out


def _own(bound: Bound, name: str) -> Axis:
    return next(entry.axes[name] for entry in bound.resolved.entries if name in entry.axes)


def _rules(how: Dealing) -> list[str]:
    """The fields that say something: `if_fewer: replicate`."""
    return [f"{one}: {getattr(how, one)}" for one in _DEALING if getattr(how, one) != getattr(_PLAIN, one)]


def _families(rows: list[AxisRow]) -> list[AxisRow]:
    """Children directly behind their parents, in the order of the spec."""
    out: list[AxisRow] = []

    def add(row: AxisRow) -> None:
        if row in out:
            return
        out.append(row)
        for child in rows:
            if child.axis.within == row.axis.name and child.keys[0][1] in ((), row.keys[0][1]):
                add(child)

    for row in (row for row in rows if row.axis.within is None):
        add(row)
    return out + [row for row in rows if row not in out]
