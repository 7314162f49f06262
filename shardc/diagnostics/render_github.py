"""The format `github`: workflow commands, which GitHub shows as annotations on a pull request's lines."""

from __future__ import annotations

from collections.abc import Iterable

from shardc.diagnostics.diagnostic import Diagnostic, Severity, Span
from shardc.diagnostics.visible import visible
from shardc.diagnostics.wording import valid_choices

_COMMANDS: dict[Severity, str] = {"error": "error", "warning": "warning", "hint": "notice"}
_IN_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_PROPERTY = _IN_MESSAGE | str.maketrans({":": "%3A", ",": "%2C"})


def render_github(diagnostics: Iterable[Diagnostic]) -> str:
    """`::error title=…,file=…,line=…::message`, one command a finding, in the order given."""
    return "\n".join(_command(diagnostic) for diagnostic in diagnostics)


def _command(diagnostic: Diagnostic) -> str:
    properties: dict[str, object] = {"title": f"shardc ({diagnostic.code})"}
    if diagnostic.label:
        properties |= _place(diagnostic.label.span)
    listed = ",".join(f"{key}={_escape(str(value), _IN_PROPERTY)}" for key, value in properties.items())

    paragraphs = [diagnostic.message, *valid_choices(diagnostic)]
    if diagnostic.help:
        paragraphs.append(f"help: {diagnostic.help}")
    message = _escape("\n".join(paragraphs), _IN_MESSAGE)
    return f"::{_COMMANDS[diagnostic.severity]} {listed}::{message}"


def _place(span: Span) -> dict[str, object]:
    """Where the annotation goes; GitHub takes columns only within one line."""
    if span.line != span.end_line:
        return {"file": span.file, "line": span.line, "endLine": span.end_line}
    return {
        "file": span.file,
        "line": span.line,
        "col": span.col,
        "endLine": span.end_line,
        "endColumn": span.end_col,
    }


def _escape(text: str, table: dict[int, str]) -> str:
    return visible(text, keep="\r\n").translate(table)
