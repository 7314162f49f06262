"""`shardc check`"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from shardc.cli.output import HELP, format_option, report
from shardc.cli.specs import check_file, spec_files
from shardc.diagnostics import Diagnostic
from shardc.diagnostics.findings import counts
from shardc.diagnostics.wording import plural


@click.command("check", context_settings=HELP)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@format_option
def command(paths: tuple[Path, ...], format_: str) -> None:
    """Check specs (files or folders; specs/ by default), and every target they claim."""
    files = spec_files(paths)
    findings: list[Diagnostic] = []
    faulty = plans = 0
    for file in files:
        checked, own = check_file(file)
        findings += own
        faulty += counts(own).errors > 0
        plans += checked.plans if checked else 0
    sys.exit(report(findings, format_, summary(findings, faulty, len(files), plans)))


def summary(findings: list[Diagnostic], faulty: int, specs: int, plans: int) -> str:
    """`1 error in 1 of 2 specs (8 plans checked)`"""
    found = counts(findings)
    checked = f"({plural(plans, 'plan')} checked)"
    extra = ", ".join(
        plural(count, word) for count, word in ((found.warnings, "warning"), (found.hints, "hint")) if count
    )
    if found.errors:
        head = f"{plural(found.errors, 'error')} in {faulty} of {plural(specs, 'spec')}"
    else:
        head = f"{plural(specs, 'spec')} clean"
    return f"{head}{', ' + extra if extra else ''} {checked}"
