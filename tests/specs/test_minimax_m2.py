"""MiniMax-M2: norms of q and k over whole projections, cut as their rows."""

from __future__ import annotations

from shardc.plan.collectives import Collective, collectives
from tests.specs.support import kept, spec_named

ATTENTION = "model.layers.5.self_attn."
EXPERT = "model.layers.5.block_sparse_moe.experts.200."


def test_norms_follow_their_heads() -> None:
    """48 heads and 8 kv heads of 128: rank 1 of 4 has heads 12 to 23 and kv heads 2 and 3."""
    rows = kept("minimax_m2", "minimax-m2.5-fp8", tp=4, rank=1)
    assert rows[ATTENTION + "q_norm.weight"] == ([(1536, 3072)],)
    assert rows[ATTENTION + "k_norm.weight"] == ([(256, 512)],)


def test_the_ranks_share_the_sum_of_squares() -> None:
    of_norms = [one for one in collectives(spec_named("minimax_m2")) if "norm" in one.pattern]
    at = "model.layers.{layer}.self_attn."
    assert of_norms == [Collective(f"{at}{name}_norm.weight", "sum_of_squares", "tp") for name in "qk"]


def test_scales_are_cut_in_blocks() -> None:
    """1536 features are 12 blocks of 128, three a rank."""
    rows = kept("minimax_m2", "minimax-m2.5-fp8", tp=4, rank=3, ep=2, ep_rank=1)
    assert rows[EXPERT + "w2.weight"] == ([(0, 3072)], [(1152, 1536)])
    assert rows[EXPERT + "w2.weight_scale_inv"] == ([(0, 24)], [(9, 12)])
    assert rows[EXPERT + "w1.weight_scale_inv"] == ([(9, 12)], [(0, 24)])
