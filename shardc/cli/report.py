"""`shardc report`"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from math import prod
from pathlib import Path

import click

from shardc.checkpoint import read_checkpoint, table_name
from shardc.cli.mesh_options import by_name, check_mesh_dims
from shardc.cli.output import HELP, report
from shardc.cli.specs import evidence_of, recorded, resolve_file
from shardc.diagnostics import Diagnostic
from shardc.diagnostics.wording import plural
from shardc.emit.tree import replace_file
from shardc.plan.bound import Bound, bind
from shardc.plan.evidence import Evidence
from shardc.plan.proof import prove
from shardc.plan.resolved import Resolved
from shardc.review.pages.report import report_html
from shardc.review.pages.shown_meshes import MOST_RANKS, shown_meshes
from shardc.rules import outputs
from shardc.rules.meshes import mesh_findings
from shardc.spec.target import Target

_SIZE = click.IntRange(1, MOST_RANKS)


_FORM = f"NAME=N, with N from 1 to {MOST_RANKS}"


def _others(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, int]:
    """`attn_tp=8`; each mesh dim once."""
    return by_name(values, _size, _FORM)


def _size(text: str) -> int:
    if not (text.isdecimal() and 1 <= int(text) <= MOST_RANKS):
        raise click.BadParameter(f"{text or 'nothing'} is not a size: {_FORM}")
    return int(text)


@click.command("report", context_settings=HELP)
@click.argument("spec", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--checkpoint", metavar="NAME|PATH",
    help="A checkpoint recorded beside the spec, or a path; the spec's first target if not given.",
)  # fmt: skip
@click.option("--tp", type=_SIZE, help="Tensor-parallel size to show first; the largest claimed up to 8 if not given.")
@click.option("--ep", type=_SIZE, help="Expert-parallel size to show first.")
@click.option("--pp", type=_SIZE, help="Pipeline-parallel size to show first.")
@click.option(
    "--mesh", "others", callback=_others, multiple=True, metavar="NAME=N",
    help="Size of another mesh dim of the spec; may be repeated.",
)  # fmt: skip
@click.option(
    "-o", "--out", type=click.Path(path_type=Path, dir_okay=False), required=True, help="The HTML file to write."
)
def command(
    spec: Path,
    checkpoint: str | None,
    tp: int | None,
    ep: int | None,
    pp: int | None,
    others: dict[str, int],
    out: Path,
) -> None:
    """Draw how every tensor of a checkpoint is cut, on every mesh that SPEC claims, as one HTML file.

    The file needs no other and no network. Every mesh of at most 64 ranks is in it.
    """
    if not out.parent.is_dir():
        raise click.UsageError(f"{out.parent} is not a folder")
    resolved, findings = resolve_file(spec)
    if resolved is None:
        sys.exit(report(findings, "full"))
    name, evidence, findings = _evidence(spec, resolved, checkpoint)
    if evidence is None:
        sys.exit(report(findings, "full"))
    bound = bind(resolved, evidence)
    findings = bound.findings or list(outputs.check(bound))
    if findings:
        sys.exit(report(findings, "full"))
    given = {"tp": tp, "ep": ep, "pp": pp, **others}
    asked = _mesh(bound, {dim: size for dim, size in given.items() if size is not None})
    target = _target(resolved, spec, name, checkpoint)
    shown = shown_meshes(bound, target, asked)
    if shown.first < 0:
        sys.exit(report(mesh_findings(bound, [(shown.mesh, shown.asked)]), "full"))
    for one in shown.compiled:
        if one.plan is not None:
            prove(one.plan)
    claimed = target.sizes if target is not None else {}
    replace_file(out, report_html(name, shown.compiled, shown.first, claimed))
    click.echo(f"{out}: {resolved.spec.name} on {name}, {plural(len(shown.compiled), 'plan')} proved", err=True)


def _evidence(spec: Path, resolved: Resolved, given: str | None) -> tuple[str, Evidence | None, list[Diagnostic]]:
    """The checkpoint's name for a reader, and what it has; a name beside the spec comes before a path."""
    folder = spec.parent / "checkpoints"
    name = given
    if name is None:
        if not resolved.spec.targets:
            raise click.UsageError(f"{spec} has no target; give --checkpoint")
        name = resolved.spec.targets[0].checkpoint
    if "/" not in name:
        evidence, findings = recorded(folder)(name)
        if evidence is not None or findings:
            return name, evidence, findings
    path = Path(name)
    if given is None or not path.exists():
        known = {target.checkpoint for target in resolved.spec.targets}
        known |= {table_name(file) for file in folder.glob("*.json*")} if not known else set()
        choices = f"; {spec.name} names {', '.join(sorted(known))}" if known else ""
        raise click.UsageError(f"there is no checkpoint {name} in {folder.as_posix()}/, and no such path{choices}")
    found, findings = read_checkpoint(path)
    shown = table_name(path if path.name not in ("", "..") else path.resolve())
    return shown, (evidence_of(found, name) if found else None), findings


def _target(resolved: Resolved, spec: Path, name: str, given: str | None) -> Target | None:
    """What the spec claims of a checkpoint that is recorded beside it; None of any other, whatever its name."""
    folder = (spec.parent / "checkpoints").resolve()
    if given not in (None, name) and Path(given or "").resolve().parent != folder:
        return None
    return next((target for target in resolved.spec.targets if target.checkpoint == name), None)


def _mesh(bound: Bound, asked: Mapping[str, int]) -> dict[str, int] | None:
    """The mesh asked for, one rank on each mesh dim that is not spoken of; None where none is."""
    dims = bound.resolved.mesh_dims
    check_mesh_dims(bound.resolved, asked)
    if not asked:
        return None
    mesh = {dim: asked.get(dim, 1) for dim in dims}
    if prod(mesh.values()) > MOST_RANKS:
        raise click.UsageError(f"a report draws {MOST_RANKS} ranks at most; this mesh has {prod(mesh.values())}")
    return mesh
