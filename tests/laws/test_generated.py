"""A generated module keeps what the plan says, and refuses what the compiler refuses."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

from hypothesis import given, settings

from shardc.plan.bound import bind
from shardc.plan.compile import compile_plan
from shardc.plan.evidence import Evidence
from tests import support
from tests.laws.specs import Case, dense_cases, quantised_cases


@settings(max_examples=60)
@given(dense_cases())
def test_dense(case: Case) -> None:
    check(case)


@settings(max_examples=60)
@given(quantised_cases())
def test_quantised(case: Case) -> None:
    check(case)


def check(case: Case) -> None:
    spec = support.resolved(case.text)
    bound = bind(spec, Evidence("config.json", case.config, case.headers))
    compiled = compile_plan(bound, case.mesh)
    with TemporaryDirectory() as folder:
        module = support.generated(spec, Path(folder))
    refused = set()
    for rank in ranks(case.mesh):
        try:
            kept = loaded(module, case, rank)
        except module.rt.ShardError as error:
            refused |= set(error.findings)
        else:
            assert compiled.plan is not None
            if compiled.ok:
                assert kept == support.rows(compiled.plan, rank)
    assert bool(refused) is not compiled.ok
    if compiled.axes:
        # A module works the whole file out before its own share, and stops at the first refusal.
        faults = [*compiled.axes, *compile_plan(bound, dict.fromkeys(case.mesh, 1)).axes]
        assert refused <= {(fault.error.code, fault.error.message) for fault in faults}
    else:
        assert {code for code, _ in refused} <= {fault.error.code for fault in compiled.cuts}


def ranks(mesh: Mapping[str, int]) -> Iterator[dict[str, int]]:
    for coordinates in itertools.product(*map(range, mesh.values())):
        yield dict(zip(mesh, coordinates, strict=True))


def loaded(module: ModuleType, case: Case, rank: Mapping[str, int]) -> dict[str, Any]:
    mesh = {dim: (rank[dim], case.mesh[dim]) for dim in module.MESH}
    headers = case.headers and {name: module.rt.Header(*header) for name, header in case.headers.items()}
    return support.generated_rows(module, case.config, mesh, headers)
