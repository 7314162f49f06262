"""Two programs, one answer: what `shardc diff` says of a change, and what the loaders of both versions do.

The loaders are generated, and share no code with the plans that the diff compares.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pytest
from msgspec.structs import replace

from scripts.planted import Fault, faults
from shardc.diagnostics import Diagnostic
from shardc.emit.module import module
from shardc.plan.bound import bind
from shardc.plan.compile import compile_plan
from shardc.plan.evidence import Evidence
from shardc.plan.resolved import Resolved
from shardc.review.compare.specs import spec_change
from shardc.review.diff import Version
from shardc.rules import double_entry, stages
from tests.review.edits import edited_spec, small_configs
from tests.review.loaders import contradictions
from tests.support import ROOT, rows, try_resolve

PLANTED = [fault for fault in faults() if fault.spec]
#: Ranks of the largest mesh on which loaders are asked.
RANKS = 4


@cache
def version(text: str) -> Version | None:
    """A spec that is bound to nothing yet; None where it has errors."""
    resolved, findings = try_resolve(text)
    if resolved is None or findings or any(one.severity == "error" for one in _kinds(resolved)):
        return None
    return Version("spec.yaml", resolved, (), {}, module(resolved))


def _bound(version: Version, given: Mapping[str, Evidence]) -> Version:
    assert version.resolved is not None
    return replace(version, bound={name: bind(version.resolved, one) for name, one in given.items()})


def _kinds(resolved: Resolved) -> list[Diagnostic]:
    return [*double_entry.check(resolved), *stages.check(resolved)]


def evidence(version: Version, config: Mapping[str, Any], name: str) -> dict[str, Evidence]:
    """The config alone, and with the headers of the file that this version of the spec would read, if there is one."""
    assert version.resolved is not None
    alone = Evidence(name, config)
    plan = compile_plan(bind(version.resolved, alone), dict.fromkeys(version.resolved.mesh_dims, 1))
    if not plan.ok or plan.plan is None:
        return {name: alone}
    headers = {one: (row[2], row[0]) for one, row in rows(plan.plan, {}).items()}
    return {name: alone, f"{name}, a file": Evidence(name, config, headers)}


@pytest.mark.parametrize("fault", PLANTED, ids=lambda fault: fault.name)
def test_a_slip_is_what_its_loader_does(fault: Fault) -> None:
    clean = (ROOT / "specs" / f"{fault.of}.yaml").read_text()
    before, after = version(clean), version(fault.spec_text())
    assert before is not None
    if after is not None:
        given = evidence(before, fault.small_config(), "small")
        assert not list(disagreements(fault.of, before, after, given))


def disagreements(name: str, before: Version, after: Version, given: Mapping[str, Evidence]) -> Iterator[str]:
    """Of the change, and of the change back."""
    sides = [_bound(one, given) for one in (before, after)]
    for two in (sides, sides[::-1]):
        change = spec_change(name, *two)
        yield from (f"{change.classes}: {one}" for one in contradictions(change, given, RANKS))


def agree(seed: int) -> bool:
    """An edit of a real spec, both ways; whether it could be tried."""
    made = edited_spec(random.Random(seed))
    before, after = (version(made.before), version(made.after)) if made is not None else (None, None)
    if made is None or before is None or after is None:
        return False
    given: dict[str, Evidence] = {}
    for config in made.configs:
        given |= evidence(before, small_configs()[config], config)
    # What a rank cannot put together the loader refuses on that rank; `shardc check` on every mesh.
    found = [one for one in disagreements(made.name, before, after, given) if "SHD230" not in one]
    assert not found, (seed, made.name, made.edits, found[:3])
    return True


def test_random_edits_of_real_specs() -> None:
    assert sum(agree(seed) for seed in range(12)) > 4


@pytest.mark.full
@pytest.mark.parametrize("part", range(10))
def test_many_random_edits_of_real_specs(part: int) -> None:
    assert sum(agree(seed) for seed in range(1_000 + part * 100, 1_100 + part * 100)) > 50
