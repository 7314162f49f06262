"""The format `sarif`: a SARIF 2.1.0 log, for code scanning and other viewers of findings."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

from shardc.diagnostics.diagnostic import Diagnostic, Label, Severity, Span
from shardc.diagnostics.fingerprints import fingerprints
from shardc.diagnostics.repository import Repository
from shardc.diagnostics.sarif_rules import INDEX, Explain, rules
from shardc.diagnostics.visible import visible
from shardc.diagnostics.wording import paragraphs

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT = "%SRCROOT%"
_LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "hint": "note"}
_PLACEHOLDER = re.compile(r"\{(\d+)\}")


def render_sarif(
    diagnostics: Sequence[Diagnostic], *, read: Callable[[str], str | None], repository: Repository, explain: Explain
) -> str:
    """One run with findings in the order given. `read` gives a file's text, `explain` the Markdown text of a code.

    Every result has a location, which GitHub's code scanning requires: that of a finding without a label is the first
    character of the file that it is about.
    """
    marks = fingerprints(diagnostics, read, repository)
    run = {
        "tool": {"driver": {"name": "shardc", "rules": rules(explain)}},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the repository that was checked."}}},
        "results": [_result(one, mark, repository) for one, mark in zip(diagnostics, marks, strict=True)],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _result(diagnostic: Diagnostic, mark: str, repository: Repository) -> dict[str, object]:
    span = diagnostic.label.span if diagnostic.label else Span(diagnostic.about, 1, 1, 1, 1)
    location: dict[str, object] = {"physicalLocation": _physical(span, repository)}
    if diagnostic.label and diagnostic.label.text:
        location["message"] = {"text": _plain(diagnostic.label.text)}
    result: dict[str, object] = {
        "ruleId": diagnostic.code,
        "ruleIndex": INDEX[diagnostic.code],
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": "\n".join(_message(diagnostic))},
        "locations": [location],
        "partialFingerprints": {"primaryLocationLineHash": mark},
    }
    if diagnostic.related:
        numbered = enumerate(diagnostic.related, start=1)
        result["relatedLocations"] = [_related(number, label, repository) for number, label in numbered]
    return result


def _message(diagnostic: Diagnostic) -> list[str]:
    """Its lines; each related location that says something is a line with a link to it, as viewers show no others."""
    head, *rest = map(_plain, paragraphs(diagnostic))
    linked = [
        f"[{_linked(label.span, diagnostic)}]({number}): {_plain(label.text)}"
        for number, label in enumerate(diagnostic.related, start=1)
        if label.text
    ]
    return [head, *linked, *rest]


def _linked(span: Span, diagnostic: Diagnostic) -> str:
    """The words of a link to a place: its line, and its file where that is another than the finding's."""
    file = "" if span.file == diagnostic.file else f"{span.file}, "
    return re.sub(r"[\\[\]]", r"\\\g<0>", _plain(file)) + f"line {span.line}"


def _related(number: int, label: Label, repository: Repository) -> dict[str, object]:
    location: dict[str, object] = {"id": number, "physicalLocation": _physical(label.span, repository)}
    if label.text:
        location["message"] = {"text": _plain(label.text)}
    return location


def _physical(span: Span, repository: Repository) -> dict[str, object]:
    artifact = {"uri": repository.uri(span.file)}
    if repository.path(span.file) is not None:
        artifact["uriBaseId"] = _ROOT
    return {
        "artifactLocation": artifact,
        "region": {
            "startLine": span.line,
            "startColumn": span.col,
            "endLine": span.end_line,
            "endColumn": span.end_col,
        },
    }


def _plain(text: str) -> str:
    """Text that no viewer takes for a link, `[a](b)`, or for a placeholder, `{0}`.

    Other braces stand as they are: viewers show a doubled one as two.
    """
    return _PLACEHOLDER.sub(r"{{\1}}", visible(text, keep="\n").replace("](", "] ("))
