"""Tied tensors: one that the file has all the same (SHD411), and one whose twin is on other ranks (SHD401)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from shardc.diagnostics import Diagnostic, Label
from shardc.plan.bound import Bound
from shardc.plan.compile import TieFault
from shardc.plan.evidence import Header
from shardc.rules.sizes import Also, also_at_each
from shardc.rules.values import config_values, mesh_values


def tied_but_present(bound: Bound, headers: Mapping[str, Header]) -> Iterator[Diagnostic]:
    for family in bound.families:
        tie = family.entry.tie
        if tie is None or not bound.is_tied(family.entry):
            continue
        for name in family.names:
            if name in headers:
                label = Label(bound.resolved.document.value(*family.entry.path, "tied_to"))
                message = f"{name} is in the file, though the config ties it to {tie.name}"
                help = "it is loaded as a tensor of its own: a tensor of the file is never dropped because of a flag"
                values = config_values([tie.when] if tie.when else [], {}, bound)
                yield Diagnostic("SHD411", message, label, values=values, help=help, severity="warning")


def apart(fault: TieFault, bound: Bound, mesh: Mapping[str, int], also: Also) -> Diagnostic:
    """`also` are further sizes at which a rank lacks the twin."""
    document, over = bound.resolved.document, fault.over
    where = fault.twin.pattern if over in fault.entry.on else fault.entry.pattern
    both = {*fault.twin.on[over], *fault.entry.on.get(over, ())}
    ends = ", ".join(end for end in ("first", "last") if end in both)
    help = f"the file has one tensor for both: write `only: {{{over}: [{ends}]}}` at {where}"
    return Diagnostic(
        "SHD401",
        fault.message,
        Label(document.value(*fault.entry.path, "tied_to")),
        related=(Label(document.key(*fault.twin.path), f"on the {' and the '.join(fault.twin.on[over])} rank alone"),),
        values=mesh_values(mesh, bound),
        notes=also_at_each(also),
        help=help,
    )
