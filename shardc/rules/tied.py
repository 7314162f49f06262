"""A tensor that the config ties to another and that the file has all the same (SHD411)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from shardc.diagnostics import Diagnostic, Label
from shardc.plan.bound import Bound
from shardc.plan.evidence import Header
from shardc.rules.values import config_values


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
