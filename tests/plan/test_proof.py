"""The proof passes plans that are right, and fails each plan that is not, by the law it breaks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from shardc.diagnostics import ShardcBug
from shardc.layout.regions import Regions
from shardc.layout.share import Share
from shardc.plan.plan import Coords, Plan
from shardc.plan.proof import prove
from shardc.plan.stored_dims import StoredDim
from tests.plan.support import PIPELINE_CONFIG, pipeline
from tests.support import plan

SPEC = """\
spec: 1
name: example
architectures: [Example]
dtype: BF16
config: {num_heads: heads, num_kv: kv, hidden: hidden, n: experts}
axes:
  kv_heads: {size: num_kv, if_fewer: replicate}
  heads: {size: num_heads, within: kv_heads}
  experts: {size: n, over: ep}
groups:
  all:
    tensors:
      q.weight: {shape: [heads * 4, hidden], shard: channel_rows}
      k.weight: {shape: [kv_heads * 4, hidden], shard: channel_rows}
      o.weight: {shape: [hidden, heads * 4], shard: channel_cols}
      o.bias: {shape: [hidden], shard: rank0}
      mixed.weight: {shape: [experts * (heads | 2), hidden], shard: column_parallel}
      fused.weight: {shape: [kv_heads * (heads per kv_heads * 4 | 4 | 4), hidden], shard: channel_rows}
"""
CONFIG = {"heads": 8, "kv": 2, "hidden": 6, "experts": 4}


def example(tp: int, ep: int = 1) -> Plan:
    return plan(SPEC, CONFIG, {"tp": tp, "ep": ep})


@pytest.mark.parametrize("tp", [1, 2, 4, 8])
@pytest.mark.parametrize("ep", [1, 2, 4])
def test_right_plans_are_proved(tp: int, ep: int) -> None:
    proof = prove(example(tp, ep))
    assert proof.dims == 6
    assert proof.ranks >= 6


def test_what_is_proved_once_is_not_proved_again() -> None:
    one = example(2)
    assert prove(one).dims == 6
    assert prove(one).dims == 0


def broken(regions: Mapping[int, Regions]) -> Plan:
    """A plan whose q.weight, dim 0, is cut as told, by tp rank."""
    right = example(2)

    class Broken(Plan):
        def at(self, dim: StoredDim, rank: Coords) -> Regions:
            if dim.part.names[0] == "q.weight" and dim.i == 0:
                return regions[rank["tp"]]
            return super().at(dim, rank)

    return Broken(right.bound, right.mesh, right.splits)


@pytest.mark.parametrize(
    ("regions", "message"),
    [
        ({0: ((0, 16, 0),), 1: ((0, 16, 0),)}, "law 1: q.weight, dim 0: 2 ranks hold rows 0..16, declared {1}"),
        ({0: ((0, 16, 0),), 1: ((20, 32, 0),)}, "law 1: q.weight, dim 0: 0 ranks hold rows 16..20, declared {1}"),
        ({0: ((0, 16, 0),), 1: ((16, 33, 0),)}, "law 1: q.weight, dim 0: regions reach beyond 0..32"),
        ({0: ((0, 18, 0), (18, 16, 0)), 1: ((16, 32, 0),)}, "law 2: q.weight, dim 0: a region ends before it begins"),
    ],
)
def test_wrong_cuts_are_bugs(regions: dict[int, Any], message: str) -> None:
    with pytest.raises(ShardcBug, match="SHD901") as caught:
        prove(broken(regions))
    assert message in str(caught.value)


def test_one_rank_that_reorders_is_a_bug() -> None:
    right = example(1)

    class Reordered(Plan):
        def at(self, dim: StoredDim, rank: Coords) -> Regions:
            return (
                ((16, 32, 0), (0, 16, 0)) if dim.part.names[0] == "q.weight" and dim.i == 0 else super().at(dim, rank)
            )

    with pytest.raises(ShardcBug, match=r"law 3: q\.weight, dim 0: one rank keeps"):
        prove(Reordered(right.bound, right.mesh, right.splits))


def test_names_that_go_round_or_stand_at_the_ends_are_proved() -> None:
    for mesh in ({"pp": 3, "ep": 2}, {"pp": 1, "ep": 5}, {"pp": 2, "attn_tp": 4}):
        one = plan(pipeline(), PIPELINE_CONFIG, {"tp": 1, "attn_tp": 1, "ep": 1, "pp": 1, **mesh})
        assert prove(one).dims > 0


def test_an_expert_on_no_rank_is_a_bug() -> None:
    right = plan(pipeline(), PIPELINE_CONFIG, {"tp": 1, "attn_tp": 1, "ep": 2, "pp": 1})
    wrong = replace(right.splits["experts", ()], shares=(Share(0, 5, step=2), Share(1, 2, step=2)))
    with pytest.raises(ShardcBug, match=r"law 1: .* 0 ranks hold rows 3\.\.4, declared \{1\}"):
        prove(Plan(right.bound, right.mesh, {**right.splits, ("experts", ()): wrong}))


def test_a_layer_on_two_stages_is_a_bug() -> None:
    right = plan(pipeline(), PIPELINE_CONFIG, {"tp": 1, "attn_tp": 1, "ep": 1, "pp": 2})
    wrong = replace(right.splits["layers", ()], shares=(Share(0, 3), Share(2, 5)))
    with pytest.raises(ShardcBug, match=r"law 1: layers 2\.\.3 are kept by 2 ranks, not 1"):
        prove(Plan(right.bound, right.mesh, {**right.splits, ("layers", ()): wrong}))


def test_a_tensor_at_the_wrong_end_is_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    right = plan(pipeline(), PIPELINE_CONFIG, {"tp": 1, "attn_tp": 1, "ep": 1, "pp": 3})
    monkeypatch.setattr("shardc.plan.proof.is_on", lambda on, mesh, rank: rank["pp"] == 1)
    with pytest.raises(ShardcBug, match=r"law 1: embed\.weight is on pp ranks \[1\] of 3, not \('first', 'last'\)"):
        prove(right)
