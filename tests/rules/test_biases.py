"""A bias and the weight of its name: cut alike, however each is written."""

from __future__ import annotations

import pytest

from shardc.rules.biases import check
from tests.plan.support import spec
from tests.support import bound

SPEC = """\
config: {n: n, d: d, hidden: hidden}
axes:
  heads: {size: n}
  experts: {size: 4, over: ep}
groups:
  all:
    tensors:
      qkv.weight: {shape: [WEIGHT, hidden], shard: KIND}
      qkv.bias: {shape: [BIAS], shard: BIAS_KIND}
      experts.up: {shape: [experts, heads * d, hidden], shard: expert_slices + channel_rows}
      experts.up_bias: {shape: [experts, STACKED], shard: STACKED_KIND}
      norm.bias: {shape: [hidden], shard: replicated}
"""
ROWS = "channel_rows"


def said(
    weight: str,
    bias: str,
    stacked: str = "heads * d",
    *,
    kinds: tuple[str, str] = (ROWS, ROWS),
    stacked_kind: str = "expert_slices + channel_rows",
) -> list[tuple[str, str]]:
    text = SPEC.replace("STACKED_KIND", stacked_kind).replace("STACKED", stacked).replace("BIAS_KIND", kinds[1])
    text = text.replace("WEIGHT", weight).replace("KIND", kinds[0]).replace("BIAS", bias)
    return [(one.message, one.help) for one in check(bound(spec(text), {"n": 8, "d": 6, "hidden": 16}))]


@pytest.mark.parametrize(
    ("weight", "bias"),
    [("heads * d", "heads * d"), ("heads * (d | d)", "heads * 2 * d"), ("heads * 2 * (d / 2)", "heads * d")],
)
def test_layouts_that_cut_alike_agree(weight: str, bias: str) -> None:
    assert said(weight, bias) == []


def test_per_head_beside_halves() -> None:
    found = said("heads * (d | d)", "heads * d | heads * d", kinds=(ROWS, "segmented_rows"))
    words = "qkv.bias is cut as `heads * d | heads * d`, qkv.weight as `heads * (d | d)`"
    assert found == [
        (f"{words}: a rank would add other rows' biases", "write the bias as [heads * (d | d)], as the weight's output is; or correct the weight"),
    ]  # fmt: skip


def test_a_whole_bias_beside_a_weight_that_is_cut() -> None:
    (found,) = said("heads * d", "n * d", kinds=(ROWS, "replicated"))
    assert found[0].startswith("qkv.bias is cut as `n * d`, qkv.weight as `heads * d`: ")


def test_of_stacked_experts() -> None:
    (found,) = said("heads * d", "heads * d", "d * heads")
    assert found[0].startswith("experts.up_bias is cut as `d * heads`, experts.up as `heads * d`: ")


def test_a_bias_of_a_weight_that_is_summed_is_as_wide_as_its_output() -> None:
    assert said("hidden", "hidden", kinds=("replicated", "rank0")) == []
