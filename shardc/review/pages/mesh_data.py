"""What a report says of one mesh: bytes of every rank, collectives, contracts and outputs."""

from __future__ import annotations

from collections.abc import Sequence

from shardc.layout.show import show
from shardc.plan.collectives import at_work
from shardc.plan.compile import Compiled
from shardc.plan.names import starred
from shardc.plan.output_rows import output_rows
from shardc.plan.plan import Coords, Plan, Shard
from shardc.plan.resolved import in_order
from shardc.plan.totals import Totals, shard_totals
from shardc.review.pages.tensor_rows import TensorRow
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
            count, one = row.kept[number].at(rank), totals[at]
            out[i] += Totals(0, one.local * count, one.replicated * count, one.padding * count)
    return [[one.local, one.replicated, one.padding] for one in out]


def _of_one(plan: Plan, row: TensorRow, rank: Coords) -> Totals:
    """The bytes of one of the row's tensors on a rank."""
    shape = tuple(dim.size for dim in row.dims)
    at = tuple(plan.at(dim, rank) for dim in row.dims)
    return shard_totals(plan, Shard(row.family, row.part, (row.part.first,), shape, at), rank)


def _outputs(plan: Plan) -> list[list[object]]:
    """[output, count, local shape, dtype, built of, world rank] of the first rank that has each."""
    wanted = {starred(built.output.pattern) for built in plan.bound.outputs.built}
    found: dict[str, list[list[object]]] = {}
    seen: set[str] = set()
    for number, rank in enumerate(plan.ranks()):
        if wanted <= seen:
            break
        new = [row for row in output_rows(plan, rank) if row.output not in found]
        for row in new:
            of = [row.output, row.count, list(row.local_shape), row.dtype, row.of, number]
            found.setdefault(row.output, []).append(of)
        seen |= {row.output for row in new}
    return [row for rows in found.values() for row in rows]
