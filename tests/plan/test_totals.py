"""Bytes of the file, of a rank, of what ranks hold in common, and of padding."""

from __future__ import annotations

import pytest

from shardc.plan.totals import Totals, rank_totals
from tests.support import plan

SPEC = """\
spec: 1
name: example
architectures: [Example]
dtype: BF16
config: {hidden: hidden, n: heads, kv: kv, rows: vocab, ex: experts}
axes:
  kv_heads: {size: kv, if_fewer: replicate}
  heads: {size: n, within: kv_heads}
  vocab: {size: rows, pad_to: 8}
  experts: {size: ex, over: ep}
groups:
  all:
    tensors:
      embed.weight: {shape: [vocab, hidden], shard: vocab_rows}
      norm.weight: {shape: [hidden], shard: replicated, dtype: F32}
      q.weight: {shape: [heads * 4, hidden], shard: channel_rows}
      k.weight: {shape: [kv_heads * 4, hidden], shard: channel_rows}
  experts:
    at: experts.{expert}
    for: {expert: experts}
    tensors:
      up.weight: {shape: [hidden, hidden], shard: expert_slices, dtype: {file: F32, load: BF16}}
"""
CONFIG = {"hidden": 4, "heads": 4, "kv": 2, "vocab": 10, "experts": 4}
FULL = 10 * 4 * 2 + 4 * 4 + 16 * 4 * 2 + 8 * 4 * 2 + 4 * 16 * 4


@pytest.mark.parametrize(
    ("mesh", "rank", "totals"),
    [
        # Alone: everything once; the experts are loaded as BF16, half their bytes in the file.
        ({"tp": 1, "ep": 1}, {}, Totals(FULL, FULL - 128, 0, 0)),
        # 10 rows of vocabulary are padded to 16: rank 1 has rows 8, 9 and six of zero.
        ({"tp": 2, "ep": 1}, {"tp": 1}, Totals(FULL, 64 + 16 + 64 + 32 + 128, 16 + 128, 48)),
        # 2 KV heads on 4 ranks: k is held twice.
        ({"tp": 4, "ep": 1}, {"tp": 0}, Totals(FULL, 32 + 16 + 32 + 32 + 128, 16 + 32 + 128, 0)),
        # Over ep an expert is held by one rank, and everything else by both.
        ({"tp": 1, "ep": 2}, {"ep": 1}, Totals(FULL, 80 + 16 + 128 + 64 + 64, 80 + 16 + 128 + 64, 0)),
    ],
)
def test_bytes_of_a_rank(mesh: dict[str, int], rank: dict[str, int], totals: Totals) -> None:
    assert rank_totals(plan(SPEC, CONFIG, mesh), rank) == totals


@pytest.mark.parametrize("tp", [1, 2, 4])
@pytest.mark.parametrize("ep", [1, 2, 4])
def test_local_bytes_over_the_ranks_are_full_replicas_and_padding(tp: int, ep: int) -> None:
    """The fourth law on bytes: each element once, and once more for each further rank that holds it."""
    one = plan(SPEC, CONFIG, {"tp": tp, "ep": ep})
    held = [rank_totals(one, rank) for rank in one.ranks()]
    loaded = FULL - 128
    k_copies = tp // 2 if tp > 2 else 1
    replicas = (tp * ep - 1) * 16 + (ep - 1) * (80 + 128) + (ep * k_copies - 1) * 64 + (tp - 1) * 128
    padding = 0 if tp == 1 else ep * (16 - 10) * 8
    assert sum(totals.local for totals in held) == loaded + replicas + padding
    assert sum(totals.padding for totals in held) == padding


STAGES = """\
spec: 1
name: example
architectures: [Example]
dtype: BF16
config: {num_layers: layers}
axes:
  layers: {size: num_layers, over: pp, if_uneven: spread}
  inter: {size: 8}
groups:
  first: {only: {pp: first}, tensors: {embed: {shape: [100], shard: replicated}}}
  last: {only: {pp: last}, tensors: {norm: {shape: [10], shard: replicated}}}
  both: {only: {pp: [first, last]}, tensors: {table: {shape: [1000], shard: replicated}}}
  layers:
    at: "{layer}"
    for: {layer: layers}
    tensors:
      up: {shape: [inter], shard: column_parallel}
"""


@pytest.mark.parametrize(
    ("mesh", "rank", "totals"),
    [
        ({"tp": 1, "pp": 1}, {}, Totals(2268, 2268, 0, 0)),
        # A tensor of one stage is on no other rank of pp; one of both ends is on two.
        ({"tp": 1, "pp": 3}, {"pp": 0}, Totals(2268, 200 + 2000 + 16, 2000, 0)),
        ({"tp": 1, "pp": 3}, {"pp": 1}, Totals(2268, 16, 0, 0)),
        ({"tp": 1, "pp": 3}, {"pp": 2}, Totals(2268, 20 + 2000 + 16, 2000, 0)),
        # Over tp, what it does not split is replicated all the same.
        ({"tp": 2, "pp": 3}, {"pp": 2}, Totals(2268, 20 + 2000 + 8, 2020, 0)),
    ],
)
def test_bytes_of_a_stage(mesh: dict[str, int], rank: dict[str, int], totals: Totals) -> None:
    assert 2268 == 2 * (100 + 10 + 1000 + 3 * 8)
    assert rank_totals(plan(STAGES, {"layers": 3}, mesh), rank) == totals


def test_bytes_of_experts_that_are_dealt_round_robin() -> None:
    text = SPEC.replace("over: ep}", "over: ep, placement: round_robin, if_uneven: spread}")
    one = plan(text, {**CONFIG, "experts": 5}, {"tp": 1, "ep": 2})
    alone = [totals.local - totals.replicated for totals in (rank_totals(one, {"ep": rank}) for rank in (0, 1))]
    assert alone == [3 * 32, 2 * 32]
