"""What a report says of one mesh: bytes of every rank, collectives, contracts and outputs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from shardc.layout.show import show
from shardc.plan.collectives import at_work
from shardc.plan.compile import Compiled
from shardc.plan.output_rows import output_rows
from shardc.plan.plan import Coords, Plan, Shard
from shardc.plan.resolved import in_order
from shardc.plan.totals import Totals, shard_totals
from shardc.review.tensor_rows import TensorRow
from shardc.review.wording import mesh_words


def mesh_data(compiled: Compiled, axes: Sequence[int], rows: Sequence[Sequence[int]]) -> dict[str, object]:
    """One mesh; `axes` and `rows` are the numbers of its cuts. Mesh dims as world ranks count them, fastest first."""
    plan = compiled.plan
    assert plan is not None
    dims = in_order(plan.mesh)
    return {
        "name": mesh_words({dim: plan.mesh[dim] for dim in dims}),
        "mesh": [[dim, plan.mesh[dim]] for dim in dims],
        "axes": axes,
        "rows": rows,
        "todo": [[one.what, one.over, one.pattern] for one in at_work(plan)],
        "holds": [
            [held.contract.use, show(held.contract.require), list(map(list, held.values.items())), held.contract.why]
            for held in compiled.holds
        ],
        "outputs": _outputs(plan),
    }


def rank_bytes(plan: Plan, rows: Sequence[TensorRow], number: int) -> list[list[int]]:
    """[local, replicated, padding] bytes of every world rank; `plan` is the rows' plan `number`."""
    ranks = list(plan.ranks())
    out = [Totals()] * len(ranks)
    for row in rows:
        totals: dict[tuple[int, ...], Totals] = {}
        over = tuple(dict.fromkeys(over for dim in row.dims for over in dim.over))
        for i, rank in enumerate(ranks):
            at = tuple(rank.get(one, 0) for one in over)
            if at not in totals:
                totals[at] = _of_one(plan, row, rank)
            count, one = row.kept[number].on(rank), totals[at]
            out[i] += Totals(0, one.local * count, one.replicated * count, one.padding * count)
    return [[one.local, one.replicated, one.padding] for one in out]


def _of_one(plan: Plan, row: TensorRow, rank: Coords) -> Totals:
    """The bytes of one of the row's tensors on a rank."""
    shape = tuple(dim.size for dim in row.dims)
    at = tuple(plan.at(dim, rank) for dim in row.dims)
    return shard_totals(plan, Shard(row.family, row.part, (row.part.first,), shape, at), rank)


def _outputs(plan: Plan) -> list[list[object]]:
    """[output, count, local shape, dtype, built of, rank] of the first rank that has each.

    Ranks at the ends of each mesh dim are asked: what no end has, none has.
    """
    if not plan.bound.outputs.built:
        return []
    dims = in_order(plan.mesh)
    ends = [dict.fromkeys((0, plan.mesh[dim] - 1)) for dim in dims[::-1]]
    found: dict[str, list[object]] = {}
    for at in itertools.product(*ends):
        rank = dict(zip(dims[::-1], at, strict=True))
        here: dict[str, list[object]] = {}
        for row in output_rows(plan, rank):
            if row.output not in found:
                here.setdefault(row.output, []).append(
                    [row.output, row.count, list(row.local_shape), row.dtype, row.of, _world(plan, rank)]
                )
        found |= here
    return [row for rows in found.values() for row in rows]  # type: ignore[misc]


def _world(plan: Plan, rank: Coords) -> int:
    """The world rank: tp fastest."""
    out, step = 0, 1
    for dim in in_order(plan.mesh):
        out += rank[dim] * step
        step *= plan.mesh[dim]
    return out
