"""`shardc verify`"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from shardc.checkpoint import Checkpoint, read_checkpoint
from shardc.cli.output import HELP, format_option, plural, report
from shardc.cli.specs import DEFAULT_SPECS, evidence_of, resolve_file, resolve_spec
from shardc.diagnostics import Diagnostic
from shardc.diagnostics.findings import counts
from shardc.plan.as_text import size
from shardc.plan.bound import bind
from shardc.plan.resolved import Resolved
from shardc.rules import claims, coverage, outputs
from shardc.source import load
from shardc.spec.read import read_spec


@click.command("verify", context_settings=HELP)
@click.argument(
    "paths", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True), metavar="[SPEC] CHECKPOINT"
)
@click.option(
    "--specs", type=click.Path(path_type=Path, exists=True, file_okay=False), default=DEFAULT_SPECS, show_default=True,
    help="Where the spec is looked for, by the config's architectures.",
)  # fmt: skip
@format_option
def command(paths: tuple[Path, ...], specs: Path, format_: str) -> None:
    """Compare CHECKPOINT (a directory, or a tensor table) with its spec, reading headers only."""
    if len(paths) > 2:
        raise click.UsageError("give a spec and a checkpoint, or a checkpoint alone")
    checkpoint, findings = read_checkpoint(paths[-1])
    if checkpoint is None:
        sys.exit(report(findings, format_))
    resolved, findings = _spec(paths[0] if len(paths) == 2 else None, specs, checkpoint)
    if resolved is None:
        sys.exit(report(findings, format_))
    bound = bind(resolved, evidence_of(checkpoint, checkpoint.path))
    if bound.findings:
        sys.exit(report(bound.findings, format_))
    covered = coverage.check(bound, checkpoint.headers)
    findings = [*claims.check(bound), *outputs.check(bound), *covered.findings]
    errors = counts(findings).errors
    head = f"{plural(errors, 'error')}" if errors else "clean"
    held = f"{plural(len(checkpoint.headers), 'tensor')}, {checkpoint.bytes:,} bytes ({size(checkpoint.bytes)})"
    claimed = f"{covered.claimed} claimed, {covered.ignored} ignored with a reason"
    summary = f"{checkpoint.path}: {head} by {resolved.document.file}; {held}: {claimed}"
    sys.exit(report(findings, format_, summary))


def _spec(path: Path | None, folder: Path, checkpoint: Checkpoint) -> tuple[Resolved | None, list[Diagnostic]]:
    """The named spec, or the one in `folder` that names an architecture of the config."""
    if path is not None:
        return resolve_file(path)
    wanted = checkpoint.config.data.get("architectures")
    architectures = [name for name in wanted if isinstance(name, str)] if isinstance(wanted, list) else []
    known: set[str] = set()
    for file in sorted(folder.glob("*.yaml")):
        document, _ = load(file)
        spec, _ = read_spec(document) if document else (None, [])
        if document is not None and spec is not None and set(spec.architectures) & set(architectures):
            return resolve_spec(spec, document)
        known |= set(spec.architectures) if spec else set()
    named = ", ".join(architectures) or "none"
    message = f"no spec in {folder} for the architectures of {checkpoint.config.path}: {named}"
    others = ", ".join(sorted(known)) or "none"
    help = f"name the spec: `shardc verify SPEC {checkpoint.path}`; there are specs for {others}"
    return None, [Diagnostic("SHD409", message, help=help)]
