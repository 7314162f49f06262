"""A plan as JSON data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase

from shardc.layout.show import show
from shardc.plan.collectives import at_work
from shardc.plan.compile import Compiled
from shardc.plan.output_rows import output_data
from shardc.plan.plan import Coords, Plan, Shard
from shardc.plan.rectangles import zero_fill
from shardc.plan.totals import Totals, rank_totals

FORMAT_VERSION = 1


def as_json(compiled: Compiled, ranks: Iterable[Coords], tensors: str = "*") -> dict[str, object]:
    """The plan of the given ranks; `tensors` is a glob of names."""
    plan = compiled.plan
    assert plan is not None
    return {
        "format_version": FORMAT_VERSION,
        "spec": plan.bound.resolved.spec.name,
        "evidence": plan.bound.evidence.name,
        "mesh": dict(plan.mesh),
        "ranks": [_rank(plan, rank, tensors) for rank in ranks],
        "collectives": [{"tensor": c.pattern, "collective": c.what, "mesh_dim": c.over} for c in at_work(plan)],
        "contracts": [
            {"contract": h.contract.use, "requires": show(h.contract.require), "values": dict(h.values), "holds": True}
            for h in compiled.holds
        ],
    }


def _rank(plan: Plan, rank: Coords, tensors: str) -> dict[str, object]:
    return {
        "rank": dict(rank),
        **_totals(rank_totals(plan, rank)),
        "tensors": [row for shard in plan.shards(rank) for row in _tensors(shard, tensors)],
        "outputs": list(output_data(plan, rank, tensors)),
    }


def _totals(totals: Totals) -> Mapping[str, int]:
    return {
        "full_bytes": totals.full,
        "local_bytes": totals.local,
        "replicated_bytes": totals.replicated,
        "padding_bytes": totals.padding,
    }


def _tensors(shard: Shard, tensors: str) -> Iterator[dict[str, object]]:
    names = shard.names if tensors == "*" else [name for name in shard.names if fnmatchcase(name, tensors)]
    if not names:
        return
    common: dict[str, object] = {
        "format": shard.family.stored.format.name,
        "dtype": shard.part.dtype,
        "load_dtype": shard.part.load,
        "kind": shard.kind,
        "full_shape": list(shard.shape),
        "local_shape": list(shard.local_shape),
        "regions": [[[start, stop] for start, stop, _ in dim if stop > start] for dim in shard.at],
        "zero_fill": [[list(span) for span in rectangle] for rectangle in zero_fill(shard.at)],
        "full_bytes": shard.full_bytes,
        "local_bytes": shard.local_bytes,
    }
    if shard.values is not None:
        common["values"] = list(shard.values)
    for name in names:
        yield {"name": name, **common}
