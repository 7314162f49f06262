"""Findings as text, in the format that the reader asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal, assert_never

from shardc.diagnostics.diagnostic import Diagnostic
from shardc.diagnostics.findings import in_order
from shardc.diagnostics.render_concise import render_concise
from shardc.diagnostics.render_full import render_full
from shardc.diagnostics.render_github import render_github
from shardc.diagnostics.render_json import render_json
from shardc.diagnostics.render_sarif import render_sarif
from shardc.diagnostics.repository import Repository
from shardc.diagnostics.sarif_rules import Explain
from shardc.diagnostics.source_lines import read_text

Format = Literal["full", "concise", "json", "github", "sarif"]


def render(
    diagnostics: Iterable[Diagnostic],
    format: Format,
    *,
    summary: str = "",
    read: Callable[[str], str | None] = read_text,
    color: bool = False,
    repository: Repository | None = None,
    explain: Explain = lambda code: None,
) -> str:
    """All findings in order, without duplicates and without a last line break; "" where there is nothing to say.

    `summary` is the last line of the formats for people (`full`, `concise`); `color` concerns `full` alone.
    `read` gives the text of a file that a label names, or None: then the place is named and nothing is quoted.
    `repository` is what `github` and `sarif` name files from, by default the working directory. `explain` gives the
    long text of a code, which `sarif` carries.
    """
    findings = in_order(diagnostics)
    within = repository or Repository(Path().resolve())
    match format:
        case "full":
            return "\n\n".join(filter(None, (render_full(findings, read=read, color=color), summary)))
        case "concise":
            return "\n".join(filter(None, (render_concise(findings), summary)))
        case "json":
            return render_json(findings)
        case "github":
            return render_github(findings, within)
        case "sarif":
            return render_sarif(findings, read=read, repository=within, explain=explain)
        case _:
            assert_never(format)
