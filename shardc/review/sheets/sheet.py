"""A plan sheet: what every rank keeps of one recorded checkpoint, on every mesh that a spec claims for it.

It is committed beside the spec, so that a pull request shows what a change of the spec does. A line stands for one
tensor, and nothing but the plans goes into it: a spec that is written otherwise and means the same has the same sheet.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from shardc.diagnostics.visible import visible
from shardc.plan.bound import Bound
from shardc.plan.sweep import reasons
from shardc.review.sheets.cuts import Cuts, named
from shardc.review.sheets.notes import collective_lines, cut_lines, other_cut_lines
from shardc.review.sheets.outputs import moved_lines
from shardc.review.sheets.rows import tensor_rows
from shardc.review.sheets.table import table_lines
from shardc.rules.check import HINTED, Claim, claimed_meshes
from shardc.spec.target import Target

MARK = "# Plan sheet by shardc build. "


def sheet(claims: Sequence[Claim]) -> str:
    """The sheet of one checkpoint. `claims` are all that one spec makes of it."""
    bound, targets = claims[0].bound, [claim.target for claim in claims]
    cuts = Cuts(bound, claims[0].compiled)
    dims = bound.resolved.mesh_dims
    meshes = [mesh for target in targets for mesh in claimed_meshes(target, bound.resolved)]
    claimed = [cuts.on(mesh) for i, mesh in enumerate(meshes) if mesh not in meshes[:i]]
    sizes = {one.mesh["tp"] for one in claimed} | (set(HINTED) if "tp" in bound.resolved.splitting else set())
    columns = [cuts.on({**dict.fromkeys(dims, 1), "tp": n}) for n in sorted(sizes)]
    rows = tensor_rows(cuts, columns)
    alone = [cuts.on(mesh) for mesh in _one_by_one(dims, targets)]
    tried = [*columns, *(one for one in claimed if one not in columns)]
    sections = [
        _head(bound, targets),
        table_lines(cuts, rows, columns, claimed),
        [f"{named(one.mesh)}: {reason}" for one in tried for reason in reasons(one.compiled)],
        cut_lines(rows, columns),
        other_cut_lines(cuts, [*columns, *alone]),
        moved_lines(bound),
        collective_lines([*columns, *alone]),
    ]
    lines = [line for section in sections if section for line in ["", *section]]
    return "".join(f"{visible(line).rstrip()}\n" for line in lines[1:])


def _one_by_one(dims: Sequence[str], targets: Sequence[Target]) -> list[dict[str, int]]:
    """The claimed sizes of every mesh dim but tp, each with one rank of all the others."""
    whole = dict.fromkeys(dims, 1)
    sizes = {dim: {n for target in targets for n in target.sizes.get(dim, []) if n > 1} for dim in dims if dim != "tp"}
    return [{**whole, dim: n} for dim, of in sizes.items() for n in sorted(of)]


def _head(bound: Bound, targets: Sequence[Target]) -> list[str]:
    spec = PurePath(bound.resolved.document.file).name
    tensors = sum(part.count for family in bound.families for part in family.stored.parts)
    return [
        f"{MARK}Edit {spec}, not this file.",
        f"# {targets[0].checkpoint}: {tensors} tensors; docs/plan-sheets.md says how to read it",
        *(f"# claimed: {_claims(target)}" for target in targets),
    ]


def _claims(target: Target) -> str:
    """`tp 1, 2, 4; ep 1, 8`"""
    said = [(dim, sizes) for dim, sizes in target.sizes.items() if dim == "tp" or sizes != [1]]
    return "; ".join(f"{dim} {', '.join(map(str, sizes))}" for dim, sizes in said)
