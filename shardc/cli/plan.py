"""`shardc plan`"""

from __future__ import annotations

import itertools
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path

import click

from shardc.checkpoint import read_checkpoint, read_config
from shardc.cli.mesh_options import by_name, check_mesh_dims
from shardc.cli.output import HELP, report
from shardc.cli.specs import evidence_of, resolve_file
from shardc.diagnostics import Diagnostic
from shardc.plan.as_json import as_json
from shardc.plan.as_text import as_markdown, as_text, size, table
from shardc.plan.blocks import blocks
from shardc.plan.bound import Bound, bind
from shardc.plan.compile import compile_plan
from shardc.plan.evidence import Evidence
from shardc.plan.plan import Plan
from shardc.plan.proof import prove
from shardc.plan.sweep import sweep
from shardc.rules import outputs
from shardc.rules.meshes import mesh_findings

_SIZES = re.compile(r"([1-9][0-9]{0,3})(?:\.\.([1-9][0-9]{0,3}))?")


def _sizes(ctx: click.Context | None, param: click.Parameter | None, value: str) -> list[int]:
    """`8`, or `1..64` for a sweep."""
    found = _SIZES.fullmatch(value)
    if found is None:
        raise click.BadParameter(f"{value} is neither a size nor a range A..B")
    first, last = int(found[1]), int(found[2] or found[1])
    if last < first:
        raise click.BadParameter(f"{value} is empty")
    return list(range(first, last + 1))


def _named_sizes(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, list[int]]:
    """`attn_tp=8`, or `attn_tp=1..8` for a sweep; each mesh dim once."""
    return by_name(values, lambda sizes: _sizes(None, None, sizes), "NAME=N or NAME=A..B")


@click.command("plan", context_settings=HELP)
@click.argument("spec", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--config", type=click.Path(path_type=Path, exists=True), help="A config.json, or a tensor table's config."
)
@click.option("--checkpoint", type=click.Path(path_type=Path, exists=True), help="A checkpoint, or a tensor table.")
@click.option(
    "--tp",
    callback=_sizes,
    metavar="N|A..B",
    default="1",
    show_default=True,
    help="Tensor-parallel size; A..B tries each.",
)
@click.option(
    "--ep",
    callback=_sizes,
    metavar="N|A..B",
    default="1",
    show_default=True,
    help="Expert-parallel size; A..B tries each.",
)
@click.option(
    "--pp",
    callback=_sizes,
    metavar="N|A..B",
    default="1",
    show_default=True,
    help="Pipeline-parallel size; A..B tries each.",
)
@click.option(
    "--mesh",
    "others",
    callback=_named_sizes,
    multiple=True,
    metavar="NAME=N|A..B",
    help="Size of another mesh dim of the spec; may be repeated.",
)
@click.option(
    "--rank",
    type=click.IntRange(0),
    help="World rank: tp varies fastest and pp slowest, the others between by their names; of tp, ep and pp it is "
    "tp rank + tp size * (ep rank + ep size * pp rank). JSON: all ranks if not given.",
)
@click.option("--tensor", default="*", help="Glob of tensor names.")
@click.option("--format", "format_", type=click.Choice(["text", "markdown", "json"]), default="text", show_default=True)
def command(
    spec: Path, config: Path | None, checkpoint: Path | None, tp: list[int], ep: list[int], pp: list[int],
    others: dict[str, list[int]], rank: int | None, tensor: str, format_: str,
) -> None:  # fmt: skip
    """What each rank keeps of each tensor of SPEC, for one config or checkpoint."""
    if (config is None) == (checkpoint is None):
        raise click.UsageError("give --config or --checkpoint")
    bound, findings = _bind(spec, config, checkpoint, tp[0] if len(tp) == 1 else None)
    if bound is None or findings:
        sys.exit(report(findings, "full"))
    meshes = _meshes(bound, {"tp": tp, "ep": ep, "pp": pp, **others})
    if len(meshes) > 1:
        sys.exit(_print_sweep(bound, meshes, format_))
    (mesh,) = meshes
    compiled = compile_plan(bound, mesh)
    if not compiled.ok or compiled.plan is None:
        sys.exit(report(mesh_findings(bound, [(mesh, compiled)]), "full"))
    prove(compiled.plan)
    here = _rank(compiled.plan, rank)
    if format_ == "json":
        ranks = list(compiled.plan.ranks()) if rank is None else [here]
        click.echo(json.dumps(as_json(compiled, ranks, tensor)))
    elif format_ == "markdown":
        click.echo(as_markdown(compiled, here, tensor))
    elif tensor != "*":
        click.echo(blocks(compiled, here, tensor))
    else:
        click.echo(as_text(compiled, here))


def _bind(
    spec_path: Path, config: Path | None, checkpoint: Path | None, tp: int | None
) -> tuple[Bound | None, list[Diagnostic]]:
    resolved, findings = resolve_file(spec_path)
    if resolved is None:
        return None, findings
    evidence, findings = _evidence(config, checkpoint, tp)
    if evidence is None:
        return None, findings
    bound = bind(resolved, evidence)
    return bound, bound.findings or list(outputs.check(bound))


def _evidence(config: Path | None, checkpoint: Path | None, tp: int | None) -> tuple[Evidence | None, list[Diagnostic]]:
    if checkpoint is not None:
        found, findings = read_checkpoint(checkpoint, tp)
        return (evidence_of(found, str(checkpoint)) if found else None), findings
    assert config is not None
    read, findings = read_config(config)
    return (Evidence(str(config), read.data, None, read.source) if read else None), findings


def _meshes(bound: Bound, asked: Mapping[str, list[int]]) -> list[dict[str, int]]:
    """Every mesh that is asked for, tp varying fastest."""
    dims = bound.resolved.mesh_dims
    check_mesh_dims(bound.resolved, {over: max(sizes) for over, sizes in asked.items()})
    tried = itertools.product(*(asked.get(dim, [1]) for dim in dims[::-1]))
    return [dict(zip(dims, sizes[::-1], strict=True)) for sizes in tried]


def _rank(plan: Plan, rank: int | None) -> Mapping[str, int]:
    ranks = list(plan.ranks())
    if rank is not None and rank >= len(ranks):
        raise click.UsageError(f"rank {rank} is outside 0..{len(ranks) - 1}")
    return ranks[rank or 0]


def _print_sweep(bound: Bound, meshes: list[dict[str, int]], format_: str) -> int:
    tried = sweep(bound, meshes)
    varying = [dim for dim in meshes[0] if len({mesh[dim] for mesh in meshes}) > 1]
    if format_ == "json":
        rows = [
            {"mesh": dict(t.mesh), "valid": not t.reasons, "local_bytes": t.local, "reasons": t.reasons} for t in tried
        ]
        click.echo(json.dumps({"format_version": 1, "spec": bound.resolved.spec.name, "meshes": rows}))
        return 0
    valid = [", ".join(f"{dim}={t.mesh[dim]}" for dim in varying) for t in tried if not t.reasons]
    lines = [["mesh", "per rank", "why not"]]
    for t in tried:
        mesh = " ".join(f"{dim}={t.mesh[dim]}" for dim in varying)
        lines.append([mesh, size(t.local) if t.local is not None else "-", "; ".join(t.reasons)])
    click.echo("\n".join(table(lines, right={1})))
    click.echo(f"\nvalid: {'; '.join(valid) or 'none'}")
    return 0
