"""`shardc diff`"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from shardc.cli.output import HELP, report
from shardc.cli.sides import Side, commit_of, of_commit, of_folders
from shardc.cli.specs import DEFAULT_SPECS, check_file
from shardc.cli.versions import changed_checkpoints, spec_changes
from shardc.diagnostics.findings import counts
from shardc.emit.tree import differences, tree
from shardc.review.diff import CLASSES, Checks, Class, Diff, SpecChange
from shardc.review.evidence import evidence_changes
from shardc.review.git import GitError
from shardc.review.sheets.tree import sheet_trees
from shardc.review.shown.as_json import as_data
from shardc.review.shown.findings import as_findings
from shardc.review.shown.markdown import as_markdown
from shardc.review.shown.text import as_text
from shardc.review.summary import contracts_that_hold
from shardc.rules.check import Checked


def _html(diff: Diff) -> str:
    from shardc.review.pages.diff_page import diff_html

    return diff_html(diff)


_PAGES: dict[str, Callable[[Diff], str]] = {
    "text": as_text,
    "markdown": as_markdown,
    "json": lambda diff: json.dumps(as_data(diff), indent=2),
    "html": _html,
}
#: The formats of findings: one for each spec and class.
_FINDINGS = ("github", "sarif")


@click.command("diff", context_settings=HELP)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--against", default="HEAD", show_default=True, metavar="REF|FOLDER",
    help="A commit, `REF...` for where HEAD left it, or a folder of specs.",
)  # fmt: skip
@click.option(
    "--format", "format_", type=click.Choice([*_PAGES, *_FINDINGS]), default="text", show_default=True,
    help="Form of the diff; for a pull request `markdown` is a comment.",
)  # fmt: skip
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), default=Path("generated"), show_default=True,
    help="The generated package, if there is one: is it current?",
)  # fmt: skip
@click.option("--fail-on", default="", metavar="CLASS,...", help=f"Exit 1 for changes of these: {', '.join(CLASSES)}.")
def command(paths: tuple[Path, ...], against: str, format_: str, out: Path, fail_on: str) -> None:
    """What a change of specs (files or folders; specs/ by default) does to every tensor, on every mesh."""
    failing = _classes(fail_on)
    with tempfile.TemporaryDirectory(prefix="shardc-") as into:
        before, after = _sides(against, paths or (DEFAULT_SPECS,), Path(into))
        # Two folders may be of anything: what is generated here is then of neither.
        generated = out if before.ref else None
        specs = tuple(spec_changes(before, after))
        evidence = tuple(evidence_changes(*changed_checkpoints(before, after)))
        found = Diff(against, specs, evidence, _checks(specs, after, generated))
    if format_ in _FINDINGS:
        report(as_findings(found, failing), format_)
    else:
        click.echo(_PAGES[format_](found))
    sys.exit(1 if found.checks.errors or failing & set(found.classes) else 0)


def _sides(against: str, paths: tuple[Path, ...], into: Path) -> tuple[Side, Side]:
    """What there was and what there is. `against` is a folder where it is no commit."""
    if not against.strip():
        raise click.UsageError("--against is empty: name a commit, `REF...` or a folder")
    help = f"fetch it first, or write ./{against} for a folder"
    why = f"neither a commit here nor a folder; {help}"
    try:
        top, commit = commit_of(against)
    except GitError as error:
        top, commit, why = Path(), None, str(error)
    if commit is not None:
        try:
            before, after = of_commit(against, commit, paths, top, into), of_folders(paths, top)
        except GitError as error:
            raise click.UsageError(f"--against {against}: {error}") from None
    elif Path(against).is_dir():
        before, after = _folders(Path(against), paths)
    else:
        raise click.UsageError(f"--against {against}: {why}")
    if not before.specs and not after.specs:
        raise click.UsageError(f"no *.yaml in {', '.join(map(str, paths))}, now or in {against}")
    return before, after


def _folders(against: Path, paths: tuple[Path, ...]) -> tuple[Side, Side]:
    if len(paths) > 1 or paths[0].is_file():
        raise click.UsageError(f"--against {against} is a folder: give one folder to compare with it")
    return of_folders((against,), against), of_folders(paths, paths[0])


def _classes(given: str) -> set[Class]:
    words = [word.strip() for word in given.split(",") if word.strip()]
    unknown = [word for word in words if word not in CLASSES]
    if unknown:
        raise click.UsageError(f"--fail-on {unknown[0]}: no such class; classes are {', '.join(CLASSES)}")
    return {one for one in CLASSES if one in words}


def _checks(specs: tuple[SpecChange, ...], after: Side, generated: Path | None) -> Checks:
    """The specs that changed, checked as they are; and what `shardc build` would write of them."""
    files = {after.shown(file): file for file in after.specs.values()}
    checked = [check_file(files[spec.after.file]) for spec in specs if spec.after is not None]
    errors, warnings, _ = counts(finding for _, findings in checked for finding in findings)
    sound = [one for one, findings in checked if one is not None and not counts(findings).errors]
    stale = tuple(_stale(sound, generated)) if sound and generated is not None and generated.is_dir() else ()
    return Checks(errors, warnings, contracts_that_hold(specs), stale)


def _stale(checked: list[Checked], generated: Path) -> Iterator[str]:
    """Modules and plan sheets that are not what the specs give."""
    modules = tree(one.resolved for one in checked if one.resolved is not None)
    for folder, wanted in [(generated, modules), *sheet_trees(checked).items()]:
        yield from (difference.path.as_posix() for difference in differences(wanted, folder, complete=False))
