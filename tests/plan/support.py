"""Short specs, and findings as (code, message, the text that is marked)."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import dedent

from shardc.diagnostics import Diagnostic
from tests.support import try_resolve

_HEAD = "spec: 1\nname: example\narchitectures: [Example]\ndtype: BF16\n"

Said = tuple[str, str, str]


def spec(body: str) -> str:
    """A spec with everything but its names: config, axes, let, contracts and groups are the body's."""
    return _HEAD + dedent(body)


def said(findings: Iterable[Diagnostic], text: str) -> list[Said]:
    """Each finding with the text under its primary label."""
    return [(f.code, f.message, marked(f, text)) for f in findings]


def said_of(text: str) -> list[Said]:
    """What resolving a spec finds."""
    return said(try_resolve(text)[1], text)


def marked(finding: Diagnostic, text: str) -> str:
    assert finding.label is not None
    span = finding.label.span
    assert span.line == span.end_line
    return text.splitlines()[span.line - 1][span.col - 1 : span.end_col - 1]
