"""Axes that are dealt round robin fall into few enough regions on any mesh, or the spec is refused."""

from __future__ import annotations

import pytest

from shardc.plan.region_limit import is_round_robin
from tests.plan.support import said, spec
from tests.support import bound, plan, resolved

SPEC = spec("""\
config: {n: n}
axes:
  experts: {size: n, over: ep, placement: round_robin, if_uneven: spread}
  rows: {size: n * 2, within: experts}
  inter: {size: n, if_uneven: spread}
groups:
  all:
    tensors:
      w: {shape: ["LAYOUT"], shard: column_parallel}
""")
NAMED = spec("""\
config: {n: n}
axes: {experts: {size: n, over: ep, placement: round_robin, if_uneven: spread}}
groups:
  all:
    at: "{expert}"
    for: {expert: {of: experts, to: 3}}
    tensors:
      w: {shape: [4], shard: expert_slices}
""")


def test_which_axes_go_round() -> None:
    axes = resolved(SPEC.replace("LAYOUT", "rows")).axes
    assert [name for name in axes if is_round_robin(name, axes)] == ["experts", "rows"]


@pytest.mark.parametrize("layout", ["experts", "rows", "experts * 4", "2 | rows"])
def test_a_rank_of_two_has_every_second_element(layout: str) -> None:
    text = SPEC.replace("LAYOUT", layout)
    assert plan(text, {"n": 19_998}, {"tp": 1, "ep": 2}).families
    [finding] = bound(text, {"n": 20_002}).findings
    assert finding.code == "SHD112"
    assert "the dim has over 10,000 regions" in finding.message


def test_every_second_element_in_a_product() -> None:
    text = SPEC.replace("LAYOUT", "10 * experts")
    assert not bound(text, {"n": 2_000}).findings
    assert said(bound(text, {"n": 2_002}).findings, text) == [
        ("SHD112", "w: with `10 * experts` the dim has over 10,000 regions", '"10 * experts"')
    ]


def test_neighbours_are_one_region() -> None:
    assert not bound(SPEC.replace("LAYOUT", "inter"), {"n": 10**12}).findings


def test_an_axis_that_selects_names() -> None:
    assert not bound(NAMED, {"n": 20_000}).findings
    [finding] = bound(NAMED, {"n": 10**12}).findings
    assert (finding.code, finding.message) == (
        "SHD112",
        "{expert}.w: with `experts` the dim has over 10,000 regions",
    )
    assert not bound(NAMED.replace("placement: round_robin, ", ""), {"n": 10**12}).findings


def test_no_elements() -> None:
    assert not bound(SPEC.replace("LAYOUT", "rows"), {"n": 0}).findings
