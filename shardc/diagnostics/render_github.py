"""The format `github`: workflow commands, which GitHub shows as annotations on a pull request's lines."""

from __future__ import annotations

from collections.abc import Iterable

from shardc.diagnostics.diagnostic import Diagnostic, Severity, Span
from shardc.diagnostics.repository import Repository
from shardc.diagnostics.visible import visible
from shardc.diagnostics.wording import location, paragraphs

_COMMANDS: dict[Severity, str] = {"error": "error", "warning": "warning", "hint": "notice"}
_IN_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_PROPERTY = _IN_MESSAGE | str.maketrans({":": "%3A", ",": "%2C"})


def render_github(diagnostics: Iterable[Diagnostic], repository: Repository) -> str:
    """`::error title=…,file=…,line=…::message`, one command a finding, in the order given.

    Files are named from the repository's root, as GitHub takes them. A finding in a file elsewhere has no file, and its
    message begins with the place.
    """
    return "\n".join(_command(diagnostic, repository) for diagnostic in diagnostics)


def _command(diagnostic: Diagnostic, repository: Repository) -> str:
    properties: dict[str, object] = {"title": f"shardc ({diagnostic.code})"}
    file = repository.path(diagnostic.file)
    if file is not None:
        properties["file"] = file
        properties |= _lines(diagnostic.label.span) if diagnostic.label else {}
    listed = ",".join(f"{key}={_escape(str(value), _IN_PROPERTY)}" for key, value in properties.items())
    place = f"{location(diagnostic.label.span)}: " if diagnostic.label and file is None else ""
    message = _escape(place + "\n".join(paragraphs(diagnostic)), _IN_MESSAGE)
    return f"::{_COMMANDS[diagnostic.severity]} {listed}::{message}"


def _lines(span: Span) -> dict[str, object]:
    """Where the annotation goes; GitHub takes columns only within one line."""
    if span.line != span.end_line:
        return {"line": span.line, "endLine": span.end_line}
    return {"line": span.line, "col": span.col, "endLine": span.end_line, "endColumn": span.end_col}


def _escape(text: str, table: dict[int, str]) -> str:
    return visible(text, keep="\r\n").translate(table)
