"""What a rank keeps by a spec of this repository, from a recorded table or from a config alone."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import cache
from typing import Any

from shardc.plan.bound import Bound, bind
from shardc.plan.compile import compile_plan
from shardc.plan.evidence import Evidence
from shardc.plan.resolved import Resolved
from tests.support import ROOT, checkpoint, generated_rows, resolved, rows

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
    """What tp rank `rank` (and ep rank `ep_rank`) keeps, by name; `of` names a recorded table, or is a config.

    A config that no target has is not compared by tests/emit/test_differential.py, so it is here.
    """
    bound = bound_to(spec, of) if isinstance(of, str) else bind(spec_named(spec), Evidence("config.json", of))
    result = compile_plan(bound, {"tp": tp, "ep": ep})
    assert result.ok and result.plan is not None, result
    found = rows(result.plan, {"tp": rank, "ep": ep_rank})
    if not isinstance(of, str):
        module = importlib.import_module(f"generated.{spec}")
        mesh = {**dict.fromkeys(spec_named(spec).mesh_dims, (0, 1)), "tp": (rank, tp)}
        if ep > 1:
            mesh["ep"] = (ep_rank, ep)
        assert generated_rows(module, of, mesh) == found
    return {
        name: tuple([(start, stop) for start, stop, _ in dim if stop > start] for dim in at)
        for name, (_, at, _, _) in found.items()
    }
