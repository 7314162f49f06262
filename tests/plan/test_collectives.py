"""What the shard kinds oblige a model to do between ranks."""

from __future__ import annotations

from shardc.plan.collectives import Collective, at_work, collectives
from tests.support import plan, resolved

SPEC = """\
spec: 1
name: example
architectures: [Example]
dtype: BF16
config: {hidden: hidden, n: heads, rows: vocab, ex: experts, width: width, depth: depth}
axes:
  heads: {size: n}
  inter: {size: width}
  vocab: {size: rows}
  experts: {size: ex, over: ep}
  layers: {size: depth, over: pp}
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
    at: layers.{layer}.experts.{expert}
    for: {layer: layers, expert: experts}
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
        Collective("layers.{layer}.experts.{expert}.down.weight", "all_reduce", "tp"),
        Collective("layers.{layer}.experts.{expert}.down.weight", "combine", "ep"),
    ]


def test_of_a_plan_those_of_tensors_that_the_config_has() -> None:
    """A norm over one group is a sum over the ranks, one over several is not; a tied head is there all the same."""
    text = """\
spec: 1
name: example
architectures: [Example]
dtype: BF16
config: {n: heads, groups: groups, rows: vocab}
axes:
  heads: {size: n}
  vocab: {size: rows}
groups:
  one: {when: groups == 1, tensors: {norm.weight: {shape: [heads * 4], shard: channel_rows, collective: sum_of_squares}}}
  many: {when: groups > 1, tensors: {norm.weight: {shape: [heads * 4], shard: channel_rows}}}
  head: {tensors: {embed.weight: {shape: [vocab, 8], shard: vocab_rows}, lm_head.weight: {shape: [vocab, 8], shard: vocab_rows, tied_to: embed.weight}}}
"""
    outside = [Collective("embed.weight", "masked_all_reduce", "tp"), Collective("lm_head.weight", "gather", "tp")]
    norm = Collective("norm.weight", "sum_of_squares", "tp")
    config = {"heads": 4, "vocab": 8}
    assert at_work(plan(text, {**config, "groups": 1}, {"tp": 2})) == [norm, *outside]
    assert at_work(plan(text, {**config, "groups": 2}, {"tp": 2})) == outside
    assert at_work(plan(text, {**config, "groups": 1}, {"tp": 1})) == []
