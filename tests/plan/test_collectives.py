"""What the shard kinds oblige a model to do between ranks."""

from __future__ import annotations

from shardc.plan.collectives import Collective, collectives
from tests.plan.support import pipeline
from tests.support import resolved

SPEC = """\
spec: 1
name: example
architectures: [Example]
dtype: BF16
config: {hidden: hidden, n: heads, rows: vocab, ex: experts, width: width}
axes:
  heads: {size: n}
  inter: {size: width}
  vocab: {size: rows}
  experts: {size: ex, over: ep}
groups:
  all:
    tensors:
      embed_tokens.weight: {shape: [vocab, hidden], shard: vocab_rows}
      embed_out.weight: {shape: [vocab, hidden], shard: vocab_rows, collective: gather}
      lm_head.weight: {shape: [vocab, hidden], shard: vocab_rows}
      q.weight: {shape: [heads * 4, hidden], shard: channel_rows}
      q_norm.weight: {shape: [heads * 4], shard: channel_rows, collective: sum_of_squares}
      o.weight: {shape: [hidden, heads * 4], shard: channel_cols}
      stacked_up: {shape: [experts, inter, hidden], shard: expert_slices + column_parallel}
      stacked_down: {shape: [experts, hidden, inter], shard: expert_slices + row_parallel}
  experts:
    at: experts.{expert}
    for: {expert: experts}
    tensors:
      up.weight: {shape: [inter, hidden], shard: expert_slices + column_parallel}
      down.weight: {shape: [hidden, inter], shard: expert_slices + row_parallel}
"""


def test_every_kind_that_needs_one() -> None:
    assert collectives(resolved(SPEC)) == [
        Collective("embed_tokens.weight", "masked_all_reduce", "tp"),
        Collective("embed_out.weight", "gather", "tp"),
        Collective("lm_head.weight", "gather", "tp"),
        Collective("q_norm.weight", "sum_of_squares", "tp"),
        Collective("o.weight", "all_reduce", "tp"),
        Collective("stacked_down", "all_reduce", "tp"),
        Collective("stacked_down", "combine", "ep"),
        Collective("experts.{expert}.down.weight", "all_reduce", "tp"),
        Collective("experts.{expert}.down.weight", "combine", "ep"),
    ]


def test_experts_are_combined_over_their_own_mesh_dim() -> None:
    """An axis of layers selects names too."""
    found = collectives(resolved(pipeline()))
    assert Collective("layers.{layer}.experts.down", "combine", "ep") in found
    assert {one.over for one in found} == {"tp", "attn_tp", "ep"}
    named = resolved(
        pipeline()
        .replace("expert_slices + column_parallel", "expert_slices + row_parallel")
        .replace("shape: [inter, hidden], shard: expert", "shape: [hidden, inter], shard: expert")
    )
    assert Collective("layers.{layer}.experts.{expert}.up.weight", "combine", "ep") in collectives(named)
