"""The format `json`: one object with everything that a finding holds, for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence

from msgspec.structs import asdict

from shardc.diagnostics.codes import NAMES
from shardc.diagnostics.diagnostic import Diagnostic
from shardc.diagnostics.findings import counts

FORMAT_VERSION = 1


def render_json(diagnostics: Sequence[Diagnostic]) -> str:
    """Findings in the order given. `valid` is whether none is an error; `format_version` rises when a key changes."""
    errors, warnings, hints = counts(diagnostics)
    report = {
        "format_version": FORMAT_VERSION,
        "valid": errors == 0,
        "errors": errors,
        "warnings": warnings,
        "hints": hints,
        "diagnostics": [_finding(diagnostic) for diagnostic in diagnostics],
    }
    return json.dumps(report, indent=2, default=str)


def _finding(diagnostic: Diagnostic) -> dict[str, object]:
    """One finding; `span` and `label` are the primary label's place and text, `labels` the related ones.

    `file` is the span's, or the file that a finding without a span is about.
    """
    label = diagnostic.label
    return {
        "code": diagnostic.code,
        "name": NAMES[diagnostic.code],
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "file": diagnostic.file or None,
        "span": asdict(label.span) if label else None,
        "label": label.text if label else "",
        "labels": [{"span": asdict(related.span), "text": related.text} for related in diagnostic.related],
        "values": {value.name: value.value for value in diagnostic.values},
        "sources": {value.name: value.source for value in diagnostic.values},
        "valid": {name: list(values) for name, values in diagnostic.valid.items()},
        "help": diagnostic.help,
        "same_cause": list(diagnostic.same_cause),
        "notes": list(diagnostic.notes),
    }
