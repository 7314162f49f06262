"""A diff as findings, for annotations and code scanning: one for each spec and class."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from shardc.diagnostics import Diagnostic, Label, Span
from shardc.diagnostics.diagnostic import Severity
from shardc.review.diff import CODES, MEANINGS, Class, Diff, SpecChange
from shardc.review.effects import effect

_HELP: dict[Class, str] = {
    "layout": "cut again what was cut with the old spec, and drop caches of it",
    "narrows": "say in the pull request who must no longer load it, and why",
    "collectives": "check that each engine does what `shardc plan` lists",
    "coverage": "compare with the checkpoint: `shardc verify`",
}
_WORTH_A_WARNING = ("layout", "narrows", "collectives")


def as_findings(diff: Diff, fail_on: Collection[Class]) -> list[Diagnostic]:
    """Classes in `fail_on` are errors; of the others, those that break something are warnings."""
    return [finding for spec in diff.specs for finding in _of(spec, diff.against, fail_on)]


def _of(spec: SpecChange, against: str, fail_on: Collection[Class]) -> Iterator[Diagnostic]:
    for one in spec.classes:
        yield Diagnostic(
            CODES[one],
            f"{spec.name}: {effect(spec)}",
            Label(_place(spec, against, one)),
            notes=(f"{one}: {MEANINGS[one]}",),
            help=_HELP.get(one, ""),
            severity=_severity(one, fail_on),
        )


def _severity(one: Class, fail_on: Collection[Class]) -> Severity:
    if one in fail_on:
        return "error"
    return "warning" if one in _WORTH_A_WARNING else "hint"


def _place(spec: SpecChange, against: str, one: Class) -> Span:
    """Where the first thing of this class stands in the text after; else the first line, of a spec that is gone too."""
    items = (*spec.tensors, *spec.axes, *spec.contracts)
    spans = (item.span for item in items if one in item.classes and item.span.file == spec.file)
    return next(spans, Span(spec.file.removeprefix(f"{against}:"), 1, 1, 1, 1))
