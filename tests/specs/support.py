"""What a rank keeps by a spec of this repository, from a recorded table or from a config alone."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from shardc.plan.bound import Bound, bind
from shardc.plan.compile import compile_plan
from shardc.plan.evidence import Evidence
from shardc.plan.resolved import Resolved
from tests.support import ROOT, checkpoint, resolved

#: For each dim, the (start, stop) of what is kept; zero fill is not among them.
Spans = tuple[list[tuple[int, int]], ...]


@cache
def spec_named(name: str) -> Resolved:
    return resolved((ROOT / "specs" / f"{name}.yaml").read_text(), f"{name}.yaml")


@cache
def bound_to(spec: str, table: str) -> Bound:
    one = checkpoint(table)
    return bind(spec_named(spec), Evidence(table, one.config.data, one.headers, grids=one.grids))


def kept(spec: str, of: str | Mapping[str, Any], tp: int, rank: int, ep: int = 1, ep_rank: int = 0) -> dict[str, Spans]:
    """What tp rank `rank` (and ep rank `ep_rank`) keeps, by name; `of` names a recorded table, or is a config."""
    bound = bound_to(spec, of) if isinstance(of, str) else bind(spec_named(spec), Evidence("config.json", of))
    result = compile_plan(bound, {"tp": tp, "ep": ep})
    assert result.ok and result.plan is not None, result
    return {
        name: tuple([(start, stop) for start, stop, _ in dim if stop > start] for dim in shard.at)
        for shard in result.plan.shards({"tp": rank, "ep": ep_rank})
        for name in shard.names
    }
