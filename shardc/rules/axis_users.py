"""The tensors that an axis splits, and what their lines say about it."""

from __future__ import annotations

from collections.abc import Mapping

from shardc.diagnostics import Label
from shardc.layout.expr import names
from shardc.layout.strides import strides
from shardc.plan.bound import Bound
from shardc.plan.family import Family
from shardc.plan.kinds import axes_of_dims
from shardc.plan.resolved import Axis


def mentioned(user: Family, bound: Bound) -> set[str]:
    """The axes that the dims of a family name."""
    return axes_of_dims(user.entry.dims, bound.axes_of(user))


def users_of(axis: Axis, bound: Bound, env: Mapping[str, int]) -> list[Family]:
    """One family of each entry that the axis, or an axis within it, splits."""
    found: dict[tuple[str | int, ...], Family] = {}
    for family in bound.families:
        axes = bound.axes_of(family)
        for name in mentioned(family, bound) | {loop.axis for loop in family.entry.loops if loop.axis}:
            here: str | None = name
            while here is not None and here != axis.name:
                here = axes[here].within
            if here and dict(family.env) == dict(env):
                found.setdefault(family.entry.path, family)
    return list(found.values())


def shown_name(user: Family, env: Mapping[str, int]) -> str:
    """The tensor's first name where the fault depends on an index, else its key in the spec."""
    return user.names[0] if env else str(user.entry.path[-1])


def row_labels(user: Family, axis: Axis, bound: Bound, ranks: int) -> list[Label]:
    """What a count of rows alone would say of the tensor."""
    for i, dim in enumerate(user.entry.dims):
        rows = user.shape[i]
        steps = strides(dim, axis.name, user.scope)
        if not steps:
            continue
        span = bound.resolved.document.value(*user.entry.path, "shape", i)
        numbers = sorted(names(dim) - bound.axes_of(user).keys())
        known = ", ".join(f"{n} {bound.values[n]}" for n in numbers if isinstance(bound.values.get(n), int))
        if steps[0] == 1:
            return [Label(span, f"{user.names[0]}: {rows}, one for each of {axis.name}")]
        one = f"one of {axis.name} is {steps[0]} rows" + (f" ({known})" if known else "")
        if rows % ranks == 0:
            divides = f"{rows} rows / {ranks} = {rows // ranks} divides"
            text = f"{user.names[0]}: {divides}, but {one}: a row count cannot see this"
        else:
            text = f"{user.names[0]}: {rows} rows over {ranks}; {one}"
        return [Label(span, text)]
    return []


def grain_labels(axis: Axis, bound: Bound) -> list[Label]:
    """Which tensor's format asks for the largest granule of the axis."""
    grains = [grain for grain in bound.grains if grain.axis == axis.name]
    if not grains:
        return []
    grain = max(grains, key=lambda g: g.granule)
    span = bound.resolved.document.value(*grain.family.entry.path, "formats")
    text = f"{grain.format}: units of {grain.unit}, so {grain.granule} of {axis.name} stay together"
    return [Label(span, text)]


def in_a_segment(axis: Axis, users: list[Family], bound: Bound) -> bool:
    """Whether some tensor has the axis in one segment of a concatenation."""
    return any("segmented" in user.entry.derived and axis.name in mentioned(user, bound) for user in users)
