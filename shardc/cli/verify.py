"""`shardc verify`"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from shardc.cli.checkpoints import checkpoint_paths
from shardc.cli.output import HELP, format_option, report
from shardc.cli.spec_folder import SpecFolder
from shardc.cli.specs import DEFAULT_SPECS, resolve_file
from shardc.cli.verified import Verified, verify
from shardc.cli.verify_many import report_many
from shardc.diagnostics.wording import plural
from shardc.plan.as_text import size


@click.command("verify", context_settings=HELP)
@click.argument(
    "paths", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True), metavar="[SPEC] CHECKPOINT..."
)
@click.option(
    "--specs", type=click.Path(path_type=Path, exists=True, file_okay=False), default=DEFAULT_SPECS, show_default=True,
    help="Where the spec is looked for, by the config's architectures.",
)  # fmt: skip
@format_option
def command(paths: tuple[Path, ...], specs: Path, format_: str) -> None:
    """Compare checkpoints with their specs, reading headers only.

    A CHECKPOINT is a directory of safetensors files, a tensor table, or a directory of tensor tables. More than one is
    shown as a table. SPEC, a *.yaml file, goes first; without it each checkpoint's is found by its architectures.
    """
    spec_file = paths[0] if paths[0].suffix in (".yaml", ".yml") else None
    checkpoints = checkpoint_paths(paths[1:] if spec_file else paths)
    if not checkpoints:
        raise click.UsageError("give a checkpoint: a directory of safetensors files, or a tensor table")
    spec, findings = resolve_file(spec_file) if spec_file else (None, [])
    if spec_file and spec is None:
        sys.exit(report(findings, format_))
    folder = SpecFolder(specs)
    if len(checkpoints) == 1 and format_ != "json":
        (path,) = checkpoints
        one = verify(path, spec, folder, sizes=False)
        sys.exit(report(one.findings, format_, _summary(one) if one.compared else ""))
    sys.exit(report_many([verify(path, spec, folder, sizes=True) for path in checkpoints], format_))


def _summary(one: Verified) -> str:
    assert one.tensors is not None and one.bytes is not None
    head = plural(one.counts.errors, "error") if one.counts.errors else "clean"
    held = f"{plural(one.tensors, 'tensor')}, {one.bytes:,} bytes ({size(one.bytes)})"
    claimed = f"{one.claimed} claimed, {one.ignored} ignored with a reason"
    chosen = f"\n{one.chosen}" if one.chosen else ""
    return f"{one.path}: {head} by {one.spec}; {held}: {claimed}{chosen}"
