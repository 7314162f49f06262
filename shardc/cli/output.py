"""Printing findings: stdout for findings, stderr for progress, and the exit code that follows."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from shardc.diagnostics import Diagnostic
from shardc.diagnostics.findings import counts

#: Options that show a command's help.
HELP = {"help_option_names": ["-h", "--help"]}
FORMATS = ("full", "concise", "json", "github", "sarif")
#: Formats that begin or end with more than the findings, a table or a summary.
FOR_PEOPLE = ("full", "concise")
#: Formats that are one object, whether there are findings or not.
_OBJECTS = ("json", "sarif")
F = TypeVar("F")


def format_option(command: F) -> F:
    """`--format`, as every command that reports findings has it."""
    option = click.option(
        "--format", "format_", type=click.Choice(FORMATS), default="full", show_default=True, help="Form of findings."
    )
    return cast(F, option(cast(Any, command)))


def report(findings: Sequence[Diagnostic], format_: str, summary: str = "") -> int:
    """Print findings; 1 if one of them is an error. The renderers are loaded where there is something to draw."""
    if findings or format_ in _OBJECTS:
        text = drawn(findings, format_, summary)
    else:
        text = summary if format_ in FOR_PEOPLE else ""
    if text:
        click.echo(text)
    return 1 if counts(findings).errors else 0


def drawn(findings: Sequence[Diagnostic], format_: str, summary: str = "") -> str:
    """The findings as text, for the repository around the working directory."""
    from shardc.diagnostics.render import Format, render
    from shardc.diagnostics.repository import Repository
    from shardc.rules.explained import explained

    repository = Repository.around(Path(), os.environ.get("GITHUB_WORKSPACE", ""))
    return render(
        list(findings), cast(Format, format_), summary=summary, color=_wants_color(),
        repository=repository, explain=explained,
    )  # fmt: skip


def _wants_color() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
