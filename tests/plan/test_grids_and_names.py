"""A table's grids and its names written out tell the same: formats, coverage, and that nothing is claimed twice."""

from __future__ import annotations

import pytest

from shardc.checkpoint import Checkpoint
from shardc.plan.bound import Bound, bind
from shardc.plan.evidence import Evidence
from shardc.plan.resolved import Resolved
from shardc.rules import claims, coverage
from tests.support import ROOT, checkpoint, resolved

SPECS = {path.stem: resolved(path.read_text()) for path in sorted((ROOT / "specs").glob("*.yaml"))}
TARGETS = [(name, target.checkpoint) for name, spec in SPECS.items() for target in spec.spec.targets]

#: Tables in which one tensor of the spec is in several formats, by layer: they are several groups there.
MIXED = {"nemotron-3-nano-30b-a3b-nvfp4"}


def both(spec: Resolved, one: Checkpoint) -> tuple[Bound, Bound]:
    headers = dict(one.headers)
    by_grid = bind(spec, Evidence(one.name, one.config.data, one.headers, grids=one.grids))
    return by_grid, bind(spec, Evidence(one.name, one.config.data, headers))


@pytest.mark.parametrize(("name", "target"), TARGETS)
def test_the_same_families(name: str, target: str) -> None:
    by_grid, by_name = both(SPECS[name], checkpoint(target))
    assert by_name.matched is None
    lines_up = target not in MIXED
    assert (by_grid.matched is not None) == lines_up, "each tensor of the spec is a group of the table"
    assert [f.stored for f in by_grid.families] == [f.stored for f in by_name.families]
    assert [p.names for f in by_grid.families for p in f.stored.parts] == [
        p.names for f in by_name.families for p in f.stored.parts
    ]


@pytest.mark.parametrize(("name", "target"), TARGETS)
def test_the_same_coverage(name: str, target: str) -> None:
    one = checkpoint(target)
    by_grid, by_name = both(SPECS[name], one)
    assert coverage.check(by_grid, one.headers) == coverage.check(by_name, dict(one.headers))
    assert list(claims.check(by_grid)) == list(claims.check(by_name)) == []
