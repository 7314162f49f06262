"""Axes that a mesh can't have (SHD201, SHD204, SHD206), with everything a reader needs to choose another size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from shardc.diagnostics import Diagnostic, Label, Value
from shardc.layout.errors import SplitError
from shardc.layout.evaluate import number
from shardc.layout.expr import Name, names
from shardc.plan.bound import Bound
from shardc.plan.compile import AxisFault
from shardc.plan.family import Family
from shardc.plan.kinds import axes_in
from shardc.plan.resolved import Axis
from shardc.plan.summed import inputs_of
from shardc.rules.axis_users import grain_labels, in_a_segment, mentioned, row_labels, shown_name, users_of
from shardc.rules.lines import line_of
from shardc.rules.sizes import also_at, valid_sizes
from shardc.rules.values import config_values


class AxisFaults(Struct, frozen=True):
    """One cause: an axis that fails in one way. `also` are further sizes of its mesh dim, `envs` further indices."""

    fault: AxisFault
    mesh: Mapping[str, int]
    also: tuple[int, ...]
    envs: tuple[Mapping[str, int], ...]


def collect(faults: Iterable[tuple[AxisFault, Mapping[str, int]]]) -> list[AxisFaults]:
    """The faults of all meshes by cause: an axis, or the axes of several indices that fail alike."""
    by_axis: dict[tuple[object, ...], list[tuple[AxisFault, Mapping[str, int]]]] = {}
    for fault, mesh in faults:
        by_axis.setdefault((fault.axis.path, tuple(fault.env.items())), []).append((fault, mesh))
    alike: dict[tuple[object, ...], list[list[tuple[AxisFault, Mapping[str, int]]]]] = {}
    for (path, _), group in by_axis.items():
        how = tuple((fault.error.message, tuple(mesh.items())) for fault, mesh in group)
        alike.setdefault((path, how), []).append(group)
    out = []
    for (first, *more), *others in alike.values():
        fault, mesh = first
        over = fault.axis.over
        also = dict.fromkeys(m.get(over, 1) for _, m in more if m.get(over, 1) != mesh.get(over, 1))
        out.append(AxisFaults(fault, mesh, tuple(also), tuple(other[0][0].env for other in others)))
    return out


def finding(faults: AxisFaults, bound: Bound) -> Diagnostic:
    """The axis, the values it comes from, the sizes that work, and the tensors it stops."""
    parent = _unmatched_parent(faults.fault, bound)
    if parent is not None:
        return _not_whole_groups(faults, parent, bound)
    document = bound.resolved.document
    fault, mesh = faults.fault, faults.mesh
    axis, error, over = fault.axis, fault.error, fault.axis.over
    ranks = mesh.get(over, 1)
    users = users_of(axis, bound, fault.env)
    root_users = [user for user in users if axis.name in mentioned(user, bound)] or users
    if error.code == "SHD206":
        root_users = [user for user in root_users if axis.name in inputs_of(user.entry, bound.axes_of(user))]
        related = [_summed_label(user, over, bound) for user in root_users[:1]]
    else:
        related = [label for user in root_users[:1] for label in row_labels(user, axis, bound, ranks)]
    segmented = in_a_segment(axis, users, bound)
    per_segment = ("each segment of a concatenation is cut by itself: the rule holds per section",) if segmented else ()
    return Diagnostic(
        error.code,
        error.message,
        Label(document.value(*axis.path), error.hint if isinstance(error, SplitError) else ""),
        related=(*related, *grain_labels(axis, bound)),
        values=_values(axis, bound, fault.env, root_users[:1]) + (Value(over, ranks, bound.evidence.name),),
        valid={over: valid_sizes(bound, mesh, over)},
        notes=(*per_segment, *also_at(over, faults.also), *_other_indices(faults)),
        help=_help(axis, bound, ranks, error.code),
        same_cause=tuple(
            f"{shown_name(user, fault.env)} (line {line_of(user.entry, document)})" for user in root_users[1:]
        ),
    )


def _summed_label(user: Family, over: str, bound: Bound) -> Label:
    assert user.entry.in_dim is not None
    span = bound.resolved.document.value(*user.entry.path, "shape", user.entry.in_dim)
    return Label(span, f"{user.names[0]}: its output is summed over {over}")


def _unmatched_parent(fault: AxisFault, bound: Bound) -> Axis | None:
    """The axis's parent, where it is no whole multiple of it: that fails whatever the mesh."""
    axis, axes = fault.axis, _axes_beside(fault.axis, bound)
    if fault.error.code != "SHD204" or axis.within is None:
        return None
    values = {**bound.values, **fault.env}
    parent = axes[axis.within]
    elements, groups = number(axis.size, values), number(parent.size, values)
    return None if groups and elements % groups == 0 else parent


def _axes_beside(axis: Axis, bound: Bound) -> Mapping[str, Axis]:
    """The axes that the axis's size and parent may name: those of the spec, and of its group if it is a group's own."""
    for family in bound.families:
        if family.entry.axes.get(axis.name) is axis:
            return bound.axes_of(family)
    return bound.resolved.axes


def _not_whole_groups(faults: AxisFaults, parent: Axis, bound: Bound) -> Diagnostic:
    document, fault = bound.resolved.document, faults.fault
    axis = fault.axis
    return Diagnostic(
        fault.error.code,
        fault.error.message,
        Label(document.value(*axis.path)),
        related=(Label(document.value(*parent.path), "the parent"),),
        values=_indices(fault.env) + config_values((axis.size, parent.size), {}, bound),
        notes=_other_indices(faults),
        help=f"correct one of the two sizes, or take `within: {axis.within}` off {axis.name}",
    )


def _other_indices(faults: AxisFaults) -> tuple[str, ...]:
    """The further indices at which the axis fails in the same way, at most eight of them."""
    if not faults.envs:
        return ()
    shown = [", ".join(f"{index} = {value}" for index, value in env.items()) for env in faults.envs[:8]]
    more = len(faults.envs) - len(shown)
    return (f"the same at {'; '.join(shown)}{f' and {more} more' if more else ''}",)


def _indices(env: Mapping[str, int]) -> tuple[Value, ...]:
    return tuple(Value(index, value, "index of the group") for index, value in env.items())


def _values(axis: Axis, bound: Bound, env: Mapping[str, int], users: list[Family]) -> tuple[Value, ...]:
    """The config values that the size and the first tensor's shape come from, by their names in config.json."""
    shaped = [
        Name(name)
        for user in users
        for dim in user.entry.dims
        if axes_in(dim, bound.axes_of(user))
        for name in sorted(names(dim) - bound.axes_of(user).keys())
    ]
    parent = _axes_beside(axis, bound)[axis.within].size if axis.within else axis.size
    return _indices(env) + config_values((axis.size, parent, *shaped), {}, bound)


def _help(axis: Axis, bound: Bound, ranks: int, code: str) -> str:
    if code == "SHD206":
        return "choose a valid size; or split the input by an axis within this one, whose ranks share its groups"
    if code == "SHD204":
        return f"choose a valid size: the ranks that share one of {axis.within} take equal parts of its {axis.name}"
    elements = _elements(axis, bound)
    if elements and elements < ranks and ranks % elements == 0 and axis.how.if_fewer == "error":
        one = "head" if axis.role == "heads" else "element"
        return f"to serve {axis.over}={ranks}, let {ranks // elements} ranks share a {one}: `if_fewer: replicate`"
    if axis.role == "vocab" and axis.how.pad_to is None:
        return "pad the vocabulary: `pad_to: 64`"
    if axis.role == "layers":
        return "choose a valid size; or let the first stages have one more: `if_uneven: spread`"
    return "choose a valid size; or deal unevenly with `if_uneven: spread`, or pad with `if_uneven: ceil`"


def _elements(axis: Axis, bound: Bound) -> int | None:
    for family in bound.families:
        if axis.name in family.scope.splits:
            return family.scope.splits[axis.name].size
    return None
