"""Axes that can't be dealt to a mesh (SHD201, SHD204), with everything a reader needs to choose another size."""

from __future__ import annotations

from collections.abc import Mapping

from shardc.diagnostics import Diagnostic, Label, Value
from shardc.layout.errors import SplitError
from shardc.layout.expr import names
from shardc.layout.strides import strides
from shardc.plan.bound import Bound, Family
from shardc.plan.compile import AxisFault
from shardc.plan.kinds import axes_in
from shardc.plan.resolved import Axis
from shardc.rules.lines import line_of
from shardc.rules.sizes import valid_sizes


def finding(fault: AxisFault, bound: Bound, mesh: Mapping[str, int], also: tuple[int, ...] = ()) -> Diagnostic:
    """`also` are further sizes of the mesh dim at which the same axis fails."""
    document = bound.resolved.document
    axis, error = fault.axis, fault.error
    over, ranks = axis.over, mesh.get(axis.over, 1)
    label = Label(document.value(*axis.path), error.hint if isinstance(error, SplitError) else "")
    users = _users(axis, bound, fault.env)
    root_users = [user for user in users if axis.name in _mentioned(user, bound)] or users
    related = [label for user in root_users[:1] for label in _row_label(user, axis, bound, ranks)]
    related += _grain_labels(axis, bound)
    notes = []
    if any(" | " in dim for dim in _segmented(axis, users, bound)):
        notes.append("each segment of a concatenation is cut by itself: the rule holds per section")
    if also:
        notes.append(f"also at {over} = {', '.join(map(str, also))}")
    return Diagnostic(
        error.code,
        error.message,
        label,
        related=tuple(related),
        values=tuple(_values(axis, bound, fault.env, root_users[:1])) + (Value(over, ranks, bound.evidence.name),),
        valid={over: valid_sizes(bound, mesh, over)},
        notes=tuple(notes),
        help=_help(axis, bound, ranks, error.code),
        same_cause=tuple(f"{_name(user, fault.env)} (line {line_of(user.entry, document)})" for user in root_users[1:]),
    )


def _mentioned(user: Family, bound: Bound) -> set[str]:
    axes = bound.axes_of(user)
    return {axis for dim in user.entry.dims for axis in axes_in(dim, axes)}


def _users(axis: Axis, bound: Bound, env: Mapping[str, int]) -> list[Family]:
    """One family of each entry that the axis, or an axis within it, splits."""
    found: dict[tuple[str | int, ...], Family] = {}
    for family in bound.families:
        axes = bound.axes_of(family)
        for name in _mentioned(family, bound) | {loop.axis for loop in family.entry.loops if loop.axis}:
            here: str | None = name
            while here is not None and here != axis.name:
                here = axes[here].within
            if here and dict(family.env) == dict(env):
                found.setdefault(family.entry.path, family)
    return list(found.values())


def _name(user: Family, env: Mapping[str, int]) -> str:
    """The tensor's first name where the fault depends on an index, else its key in the spec."""
    return user.names[0] if env else str(user.entry.path[-1])


def _row_label(user: Family, axis: Axis, bound: Bound, ranks: int) -> list[Label]:
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
            return []
        one = f"one of {axis.name} is {steps[0]} rows" + (f" ({known})" if known else "")
        if rows % ranks == 0:
            text = f"{user.names[0]}: {rows} rows / {ranks} = {rows // ranks} divides, but {one}: rows do not show it"
        else:
            text = f"{user.names[0]}: {rows} rows over {ranks}; {one}"
        return [Label(span, text)]
    return []


def _grain_labels(axis: Axis, bound: Bound) -> list[Label]:
    """Which tensor's format asks for the largest granule of the axis."""
    grains = [grain for grain in bound.grains if grain.axis == axis.name]
    if not grains:
        return []
    grain = max(grains, key=lambda g: g.granule)
    span = bound.resolved.document.value(*grain.family.entry.path, "formats")
    text = f"{grain.format}: units of {grain.unit}, so {grain.granule} of {axis.name} stay together"
    return [Label(span, text)]


def _segmented(axis: Axis, users: list[Family], bound: Bound) -> list[str]:
    document = bound.resolved.document
    out = []
    for user in users:
        for i, dim in enumerate(user.entry.dims):
            if axis.name in axes_in(dim, bound.axes_of(user)) and "segmented" in user.entry.derived:
                span = document.value(*user.entry.path, "shape", i)
                out.append(document.text.splitlines()[span.line - 1][span.col - 1 : span.end_col - 1])
    return out


def _values(axis: Axis, bound: Bound, env: Mapping[str, int], users: list[Family]) -> list[Value]:
    """The config values that the size and the first tensor's shape come from, by their names in config.json."""
    wanted = dict.fromkeys(sorted(names(axis.size)))
    for user in users:
        for dim in user.entry.dims:
            if axes_in(dim, bound.axes_of(user)):
                wanted |= dict.fromkeys(sorted(names(dim) - bound.axes_of(user).keys()))
    out = [Value(index, value, "index of the group") for index, value in env.items()]
    for name in wanted:
        if name in bound.values:
            symbol = bound.resolved.symbols[name]
            source = bound.symbols.sources.get(name, "")
            key = name if source.startswith("else") else symbol.keys[0].rsplit(".", 1)[-1]
            out.append(Value(key, bound.values[name], source))
    return out


def _help(axis: Axis, bound: Bound, ranks: int, code: str) -> str:
    if code == "SHD204":
        return "the child axis must be a whole multiple of its parent, and its groups must divide by the sharing ranks"
    elements = _elements(axis, bound)
    if elements and elements < ranks and ranks % elements == 0 and axis.how.if_fewer == "error":
        one = "head" if axis.role == "heads" else "element"
        return f"to serve {axis.over}={ranks}, let {ranks // elements} ranks share a {one}: `if_fewer: replicate`"
    if axis.role == "vocab" and axis.how.pad_to is None:
        return "pad the vocabulary: `pad_to: 64`"
    return "choose a valid size; or deal unevenly with `if_uneven: spread`, or pad with `if_uneven: ceil`"


def _elements(axis: Axis, bound: Bound) -> int | None:
    for family in bound.families:
        if axis.name in family.scope.splits:
            return family.scope.splits[axis.name].size
    return None
