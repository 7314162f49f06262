"""`shardc shard`"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from shardc.checkpoint import read_checkpoint
from shardc.cli.cutting import Options, cut, cutting_options, mesh_faults
from shardc.cli.output import HELP, report
from shardc.cli.spec_folder import SpecFolder
from shardc.cli.specs import DEFAULT_SPECS, evidence_of, resolve_file
from shardc.cli.torch_needed import reported
from shardc.cli.verified import verify
from shardc.diagnostics import Diagnostic
from shardc.diagnostics.findings import counts
from shardc.plan.resolved import Resolved


@click.command("shard", context_settings=HELP)
@click.argument("checkpoint", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--spec", type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="The spec; if it is not given, the one that names the config's architecture.",
)  # fmt: skip
@click.option(
    "--specs", type=click.Path(path_type=Path, exists=True, file_okay=False), default=DEFAULT_SPECS, show_default=True,
    help="Where the spec is looked for.",
)  # fmt: skip
@click.option("--without-ignored", is_flag=True, help="Leave out what the spec ignores; a merge then lacks it.")
@cutting_options
def command(
    checkpoint: Path, spec: Path | None, specs: Path, without_ignored: bool, options: Options, format_: str
) -> None:
    """Cut a CHECKPOINT once, into files of which each rank loads its own.

    The directory loads as the checkpoint does, on the same mesh, and merges back into it byte for byte. A run that was
    stopped goes on where it was; ranks may be written on several machines, to one file system.
    """
    resolved, findings = find_spec(checkpoint, spec, specs)
    if resolved is not None and not counts(findings).errors:
        found, more = read_checkpoint(checkpoint)
        findings = more if found is None else mesh_faults(resolved, evidence_of(found, str(checkpoint)), options.mesh)
    if resolved is None or counts(findings).errors:
        sys.exit(report(findings, format_))
    reported(lambda: cut(resolved, checkpoint, options, not without_ignored), checkpoint, format_)


def find_spec(checkpoint: Path, spec: Path | None, specs: Path) -> tuple[Resolved | None, list[Diagnostic]]:
    """The spec given, or that of the config's architecture; and what it finds in the checkpoint."""
    given, findings = resolve_file(spec) if spec else (None, [])
    if findings:
        return None, findings
    found = verify(checkpoint, given, SpecFolder(specs), sizes=False)
    if given is not None or found.spec is None:
        return given, found.findings
    return resolve_file(Path(found.spec))[0], found.findings
