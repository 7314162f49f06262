"""Cuts that fall inside a block, a group or a packed word (SHD212), and sizes that are not whole ones (SHD213)."""

from __future__ import annotations

from collections.abc import Mapping

from shardc.diagnostics import Diagnostic, Label
from shardc.plan.bound import Bound
from shardc.plan.compile import CutFault
from shardc.rules.lines import line_of
from shardc.rules.sizes import Also, also_at_each, valid_sizes
from shardc.rules.values import config_values, mesh_values


def message(fault: CutFault) -> str:
    """The same words as a generated module raises when it loads."""
    where = "" if fault.error.code == "SHD213" else f"dim {fault.dim} "
    return f"{fault.name}: {where}{fault.error.message}"


def findings(faults: list[CutFault], bound: Bound, mesh: Mapping[str, int], also: Also) -> list[Diagnostic]:
    """One finding for each format and message; the tensors it stops are listed together.

    `also` are further sizes at which units are cut.
    """
    groups: dict[tuple[str, str, str], list[CutFault]] = {}
    for fault in faults:
        key = (fault.family.stored.format.name, fault.error.code, fault.error.message)
        groups.setdefault(key, []).append(fault)
    return [_finding(group, bound, mesh, also) for group in groups.values()]


def _finding(group: list[CutFault], bound: Bound, mesh: Mapping[str, int], also: Also) -> Diagnostic:
    document = bound.resolved.document
    first = group[0]
    entry, format = first.family.entry, first.family.stored.format.name
    others = dict.fromkeys(
        f"{fault.family.entry.path[-1]} (line {line_of(fault.family.entry, document)})"
        for fault in group[1:]
        if fault.family.entry.path != entry.path
    )
    ragged = first.error.code == "SHD213"
    sizes = config_values(entry.dims, bound.axes_of(first.family), bound)
    help = (
        f"{format} can't store this: correct the shape, or take {format} off its `formats`"
        if ragged
        else "choose a valid size: each rank's part must begin and end between whole units"
    )
    return Diagnostic(
        first.error.code,
        message(first),
        Label(document.value(*entry.path, "shape"), f"{entry.formula} = {list(first.family.shape)}"),
        related=(Label(document.value(*entry.path, "formats"), f"stored as {format}"),),
        values=sizes if ragged else sizes + mesh_values(mesh, bound),
        valid={} if ragged else {over: valid_sizes(bound, mesh, over) for over in first.over},
        notes=() if ragged else also_at_each(also),
        help=help,
        same_cause=tuple(others),
    )
