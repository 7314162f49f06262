"""The format `concise`: one line a finding, for editors, grep and a quick look."""

from __future__ import annotations

from collections.abc import Iterable

from shardc.diagnostics.diagnostic import Diagnostic
from shardc.diagnostics.visible import visible
from shardc.diagnostics.wording import location, valid_choices


def render_concise(diagnostics: Iterable[Diagnostic]) -> str:
    """`specs/x.yaml:14:13: error[SHD201] 4 kv_heads cannot … (valid tp: 1, 2, 4)`, in the order given."""
    return "\n".join(visible(_line(diagnostic)) for diagnostic in diagnostics)


def _line(diagnostic: Diagnostic) -> str:
    place = f"{location(diagnostic.label.span)}: " if diagnostic.label else ""
    choices = "; ".join(valid_choices(diagnostic))
    after = f" ({choices})" if choices else ""
    return f"{place}{diagnostic.severity}[{diagnostic.code}] {diagnostic.message}{after}"
