"""`shardc prove`"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from shardc.cli.mesh_options import check_mesh_dims
from shardc.cli.output import FOR_PEOPLE, HELP, format_option, report
from shardc.cli.specs import DEFAULT_SPECS, resolve_file
from shardc.diagnostics import Diagnostic
from shardc.plan.as_text import table
from shardc.plan.resolved import Resolved

if TYPE_CHECKING:
    from shardc.prove.proof import Proof
    from shardc.prove.subject import Subject

_NEEDED = ("torch", "safetensors", "transformers")
_HEADINGS = ("spec", "model", "config", "tp", "ep", "max difference", "of the largest", "seconds")


@click.command("prove", context_settings=HELP)
@click.argument("spec", metavar="SPEC")
@click.option("--config", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="A small config.json.")
@click.option(
    "--checkpoint", type=click.Path(path_type=Path, exists=True, file_okay=False), help="A checkpoint, of any size."
)
@click.option("--tp", type=click.IntRange(1, 64), default=2, show_default=True, help="Tensor-parallel size.")
@click.option("--ep", type=click.IntRange(1, 64), default=1, show_default=True, help="Expert-parallel size.")
@format_option
def command(spec: str, config: Path | None, checkpoint: Path | None, tp: int, ep: int, format_: str) -> None:
    """Run a model on its shards, a process a rank, and compare what it computes with the whole model.

    SPEC is a file, or the name of one in specs/. The model is built by transformers: from --checkpoint with its
    weights, from --config with random ones, and without either from each of specs/small/ that is of this spec. Formats
    for programs have the findings alone, without the table.
    """
    if config is not None and checkpoint is not None:
        raise click.UsageError("give --config or --checkpoint, not both")
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise click.UsageError(f"prove needs {', '.join(missing)}: pip install 'shardc[prove]'")
    resolved, findings = resolve_file(_file(spec))
    if resolved is None:
        sys.exit(report(findings, format_))
    mesh = {"tp": tp} if ep == 1 else {"tp": tp, "ep": ep}
    check_mesh_dims(resolved, mesh)
    rows = [list(_HEADINGS)]
    found: list[Diagnostic] = []
    for subject in _subjects(resolved, config, checkpoint):
        proof = _proved(subject, resolved, mesh)
        rows.append(_row(resolved.spec.name, subject, proof))
        found += proof.findings
    if format_ in FOR_PEOPLE:
        click.echo("\n".join(table(rows, right={3, 4, 5, 6, 7})))
    sys.exit(report(found, format_))


def _row(spec: str, subject: Subject, proof: Proof) -> list[str]:
    """A line of the table, as docs/proofs.md has it; a dash where the ranks came to no answer."""
    apart = proof.difference
    numbers = [f"{apart.absolute:.1e}", f"{apart.relative:.1e}"] if apart else ["-", "-"]
    sizes = [str(proof.mesh.get(dim, 1)) for dim in ("tp", "ep")]
    return [spec, subject.architecture, subject.name, *sizes, *numbers, f"{proof.seconds:.1f}"]


def _file(spec: str) -> Path:
    path = Path(spec) if spec.endswith((".yaml", ".yml")) else DEFAULT_SPECS / f"{spec}.yaml"
    if not path.is_file():
        raise click.UsageError(f"{path} does not exist; SPEC is a file, or the name of one in {DEFAULT_SPECS}/")
    return path


def _subjects(spec: Resolved, config: Path | None, checkpoint: Path | None) -> Iterator[Subject]:
    from shardc.prove.reference import NoReference
    from shardc.prove.small import small_configs
    from shardc.prove.subject import made_up, published

    folder = Path(spec.document.file).parent / "small"
    configs = [config] if config else small_configs(folder, spec.spec.architectures)
    if not configs and checkpoint is None:
        raise click.UsageError(f"no small config of {spec.spec.name}: give --config or --checkpoint")
    try:
        if checkpoint is not None:
            yield published(checkpoint)
            return
        for path in configs:
            with tempfile.TemporaryDirectory(prefix="shardc-prove-") as checkpoint_folder:
                yield made_up(path, spec, Path(checkpoint_folder))
    except (NoReference, ValueError) as error:
        raise click.UsageError(str(error)) from error


def _proved(subject: Subject, spec: Resolved, mesh: dict[str, int]) -> Proof:
    from shardc.prove.proof import prove

    def progress(text: str) -> None:
        click.echo(f"  {text}", err=True)

    click.echo(
        f"{spec.spec.name}: {subject.architecture} ({subject.name}), {subject.parameters:,} parameters", err=True
    )
    return prove(subject, spec, mesh, progress)
