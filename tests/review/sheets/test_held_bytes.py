"""Bytes of ranks, added up in another way than rank by rank."""

from __future__ import annotations

import itertools

import pytest

from shardc.plan.bound import Bound
from shardc.plan.totals import rank_totals
from shardc.review.sheets.cuts import Cuts
from shardc.review.sheets.held_bytes import Bytes
from tests.plan.support import spec
from tests.support import bound

MODEL = spec("""\
axes:
  kv_heads: {size: 2, if_fewer: replicate}
  heads: {size: 4, within: kv_heads}
  inter: {size: 11, if_uneven: spread}
  vocab: {size: 10, pad_to: 4}
  tiles: {size: 7, if_uneven: ceil, over: ep}
  experts: {size: 5, over: ep, if_uneven: spread}
  layers: {size: 3, over: pp, if_uneven: spread}
groups:
  top:
    only: {pp: [first, last]}
    tensors: {embed.weight: {shape: [vocab, 32], shard: vocab_rows}}
  last:
    only: {pp: last}
    tensors: {norm.weight: {shape: [32], shard: replicated, dtype: {file: F32, load: BF16}}}
  attention:
    at: layers.{layer}
    for: {layer: layers}
    tensors:
      q.weight: {shape: [heads * 8, 32], shard: channel_rows}
      k.weight: {shape: [kv_heads * 8, 32], shard: channel_rows}
      o.bias: {shape: [32], shard: rank0}
      up.weight: {shape: [inter, 32], shard: column_parallel}
      both.weight: {shape: [inter * tiles, 4], shard: column_parallel}
  experts:
    at: layers.{layer}.experts.{expert}
    for: {layer: layers, expert: experts}
    tensors: {up.weight: {shape: [4, 32], shard: expert_slices, formats: [nvfp4]}}
  odd:
    at: layers.{layer}.odd.{expert}
    for: {layer: layers, expert: experts}
    when: (layer + expert) % 2 == 1
    tensors: {w: {shape: [3, 3], shard: expert_slices}}
""")


@pytest.fixture(scope="module")
def model() -> Bound:
    found = bound(MODEL, {})
    assert not found.findings
    return found


def test_they_are_those_of_every_rank(model: Bound) -> None:
    """Padding, replicas, `rank0`, stages, experts whose names depend on the layer: on every mesh as `rank_totals`."""
    cuts = Cuts(model)
    counted = Bytes(cuts)
    uneven = 0
    for tp, ep, pp in itertools.product((1, 2, 4), (1, 2, 3), (1, 2, 3)):
        on = cuts.on({"tp": tp, "ep": ep, "pp": pp})
        assert on.works
        every = [rank_totals(on.plan, rank) for rank in on.plan.ranks()]
        found = counted.on(on)
        assert (found.least, found.most) == (min(one.local for one in every), max(one.local for one in every))
        assert found.padding == max(one.padding for one in every)
        assert counted.replicated(on) == every[0].replicated
        uneven += found.least != found.most
    assert uneven > 20


def test_a_spec_without_a_tensor_has_none() -> None:
    empty = bound(spec("groups: {none: {when: 1 == 2, tensors: {w: {shape: [2], shard: replicated}}}}\n"), {})
    cuts = Cuts(empty)
    found = Bytes(cuts).on(cuts.on({"tp": 4}))
    assert (found.least, found.most, found.padding) == (0, 0, 0)
