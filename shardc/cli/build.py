"""`shardc build`"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import click

from shardc.cli.output import HELP, format_option, report
from shardc.cli.specs import DEFAULT_SPECS, check_file, spec_files
from shardc.diagnostics import Diagnostic, Label
from shardc.diagnostics.findings import counts
from shardc.diagnostics.wording import plural
from shardc.emit.tree import Difference, Tree, differences, tree, write
from shardc.review.sheets.tree import sheet_trees
from shardc.rules.check import Checked


@click.command("build", context_settings=HELP)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--check", "check_only", is_flag=True, help="Write nothing; exit 1 where a file is not as it should be.")
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), default=Path("generated"), show_default=True,
    help="The generated package.",
)  # fmt: skip
@format_option
def command(paths: tuple[Path, ...], check_only: bool, out: Path, format_: str) -> None:
    """Check specs (files or folders; specs/ by default), prove their targets, and write loaders and plan sheets."""
    files = spec_files(paths)
    checked: list[Checked] = []
    findings: list[Diagnostic] = []
    for file in files:
        one, own = check_file(file)
        findings += own
        if one is not None:
            checked.append(one)
    findings += _same_name(checked)
    if counts(findings).errors:
        sys.exit(report(findings, format_, "nothing was written"))
    specs = [one.resolved for one in checked if one.resolved is not None]
    sheets = sheet_trees(checked)
    complete = not paths or paths == (DEFAULT_SPECS,)
    wanted = [(out, tree(specs)), *sheets.items()]
    found = [differences(of, folder, complete) for folder, of in wanted]
    every = [difference for of in found for difference in of]
    if check_only:
        sys.exit(report([difference.finding() for difference in every], format_, _state(out, sheets, every)))
    touched: list[Path] = []
    for (folder, of), differing in zip(wanted, found, strict=True):
        touched += write(of, folder, differing)
    foreign = [difference.finding() for difference in every if difference.code == "SHD504"]
    plans = sum(one.plans for one in checked)
    summary = f"{plural(len(specs), 'spec')}, {plural(plans, 'plan')} proved; {plural(len(touched), 'file')} written"
    worth_a_word = [finding for finding in findings if finding.severity == "warning"]
    sys.exit(report([*worth_a_word, *foreign], format_, summary))


def _state(out: Path, sheets: Mapping[Path, Tree], found: list[Difference]) -> str:
    """The summary of `--check`."""
    if found:
        return f"{plural(len(found), 'file')} {'needs' if len(found) == 1 else 'need'} attention: run `shardc build`"
    count = sum(len(of.files) for of in sheets.values())
    if not count:
        return f"{out}/ is current"
    return f"{out}/ and {plural(count, 'plan sheet')} are current"


def _same_name(checked: list[Checked]) -> list[Diagnostic]:
    """Two specs that would write one module."""
    seen: dict[str, Checked] = {}
    out = []
    for one in checked:
        if one.resolved is None:
            continue
        name = one.resolved.spec.name
        first = seen.setdefault(name, one)
        if first is not one:
            label = Label(one.document.value("name"))
            message = f"the name `{name}` is taken by {first.document.file}"
            out.append(Diagnostic("SHD105", message, label, help="rename one of the two specs"))
    return out
