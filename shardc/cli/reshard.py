"""`shardc reshard`"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from shardc.checkpoint import Header
from shardc.cli.cutting import Options, cut, cutting_options, mesh_faults
from shardc.cli.output import HELP, report
from shardc.cli.specs import DEFAULT_SPECS, resolve_file
from shardc.cli.torch_needed import needs_torch, reported
from shardc.plan.evidence import Evidence
from shardc.plan.resolved import Resolved


@click.command("reshard", context_settings=HELP)
@click.argument("directory", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--spec", type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="The spec; if it is not given, the one of the name that the directory was cut by.",
)  # fmt: skip
@click.option(
    "--specs", type=click.Path(path_type=Path, exists=True, file_okay=False), default=DEFAULT_SPECS, show_default=True,
    help="Where the spec is looked for.",
)  # fmt: skip
@cutting_options
def command(directory: Path, spec: Path | None, specs: Path, options: Options, format_: str) -> None:
    """Cut the ranks' files of DIRECTORY anew, for another mesh; no tensor is put together for it.

    What comes of it is what cutting the original would be, file by file.
    """
    reported(lambda: _resharded(directory, spec, specs, options, format_), directory, format_)


@needs_torch
def _resharded(directory: Path, spec: Path | None, specs: Path, options: Options, format_: str) -> str:
    from shardc.store.origins import FromRanks
    from shardc.store.ranked import Ranked

    ranked = Ranked(directory)
    resolved = _spec(spec, specs, ranked.known.cut.spec, format_)
    headers = {name: Header(dtype, shape) for name, (dtype, shape, *_) in ranked.headers.items()}
    evidence = Evidence(str(directory), FromRanks(ranked).config, headers)
    faults = mesh_faults(resolved, evidence, options.mesh)
    if faults:
        sys.exit(report(faults, format_))
    return cut(resolved, directory, options)


def _spec(spec: Path | None, specs: Path, name: str, format_: str) -> Resolved:
    """The spec that is given, or that of a name; exits with 1 where it has errors. Raises UsageError."""
    path = spec or specs / f"{name}.yaml"
    if spec is None and not (name.isidentifier() and path.is_file()):
        raise click.UsageError(f"{path} does not exist; give the spec that the directory was cut by with --spec")
    resolved, findings = resolve_file(path)
    if resolved is None:
        sys.exit(report(findings, format_))
    return resolved
