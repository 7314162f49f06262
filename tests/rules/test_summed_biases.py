"""A bias that every rank has, beside a weight whose output the ranks sum."""

from __future__ import annotations

import pytest

from shardc.rules.summed_biases import check
from tests.plan.support import spec
from tests.support import resolved

SPEC = """\
config: {n: n, hidden: hidden}
axes:
  inter: {size: n}
  experts: {size: 4, over: ep}
groups:
  all:
    tensors:
      down.weight: {shape: [hidden, INPUT], shard: KIND}
      down.bias: {shape: [hidden], shard: BIAS}
      experts.down: {shape: [experts, hidden, inter], shard: expert_slices + row_parallel}
      experts.down_bias: {shape: [experts, hidden], shard: STACKED}
"""


def helps(kind: str = "row_parallel", bias: str = "rank0", stacked: str = "expert_slices + rank0") -> list[str]:
    width = "n" if kind == "replicated" else "inter"
    text = SPEC.replace("INPUT", width).replace("KIND", kind).replace("BIAS", bias).replace("STACKED", stacked)
    return [finding.help for finding in check(resolved(spec(text)))]


@pytest.mark.parametrize("kind", ["row_parallel", "replicated"])
def test_one_that_rank_0_has_is_added_once(kind: str) -> None:
    assert helps(kind) == []


def test_a_replicated_bias() -> None:
    assert helps(bias="replicated") == ["write `shard: rank0`; leave it where the engine adds it after the sum"]


def test_beside_a_weight_that_is_not_summed() -> None:
    assert helps("replicated", "replicated") == []


def test_of_stacked_experts() -> None:
    (help,) = helps(stacked="expert_slices")
    assert help == "write `shard: expert_slices + rank0`; leave it where the engine adds it after the sum"
