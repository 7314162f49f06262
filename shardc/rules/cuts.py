"""Cuts that fall inside a block, a group or a packed word (SHD212), and sizes that are not whole ones (SHD213)."""

from __future__ import annotations

from collections.abc import Mapping

from shardc.diagnostics import Diagnostic, Label, Value
from shardc.layout.show import show
from shardc.plan.bound import Bound
from shardc.plan.compile import CutFault
from shardc.rules.lines import line_of
from shardc.rules.sizes import valid_sizes


def findings(faults: list[CutFault], bound: Bound, mesh: Mapping[str, int]) -> list[Diagnostic]:
    """One finding for each format and message; the tensors it stops are listed together."""
    groups: dict[tuple[str, str, str], list[CutFault]] = {}
    for fault in faults:
        key = (fault.family.stored.format.name, fault.error.code, fault.error.message)
        groups.setdefault(key, []).append(fault)
    return [_finding(group, bound, mesh) for group in groups.values()]


def _finding(group: list[CutFault], bound: Bound, mesh: Mapping[str, int]) -> Diagnostic:
    document = bound.resolved.document
    first = group[0]
    entry, format = first.family.entry, first.family.stored.format.name
    text = ", ".join(show(expr) for expr in entry.written)
    label = Label(document.value(*entry.path, "shape"), f"[{text}] = {list(first.family.shape)}")
    others = dict.fromkeys(
        f"{fault.family.entry.path[-1]} (line {line_of(fault.family.entry, document)})"
        for fault in group[1:]
        if fault.family.entry.path != entry.path
    )
    ragged = first.error.code == "SHD213"
    return Diagnostic(
        first.error.code,
        f"{first.name}: {first.error.message}" if ragged else f"{first.name}: dim {first.dim} {first.error.message}",
        label,
        related=(Label(document.value(*entry.path, "formats"), f"stored as {format}"),),
        values=tuple(Value(over, n, bound.evidence.name) for over, n in mesh.items()),
        valid={} if ragged else {"tp": valid_sizes(bound, mesh, "tp")},
        help=f"{format} can't store this width" if ragged else "each section must be cut between whole units",
        same_cause=tuple(others),
    )
