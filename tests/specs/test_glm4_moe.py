"""GLM-4.5-Air: ranks share kv heads beyond 8; biases follow their rows; an MTP layer with copies."""

from __future__ import annotations

from tests.specs.support import kept

ATTENTION = "model.layers.46.self_attn."


def test_four_ranks_share_a_kv_head() -> None:
    """96 heads in 8 groups of 12: rank 13 of 32 has heads 39 to 41, and kv head 3 as ranks 12, 14 and 15 do."""
    rows = kept("glm4_moe", "glm-4.5-air", tp=32, rank=13)
    assert rows[ATTENTION + "q_proj.bias"] == ([(4992, 5376)],)
    assert rows[ATTENTION + "k_proj.bias"] == ([(384, 512)],)
    assert rows[ATTENTION + "o_proj.weight"] == ([(0, 4096)], [(4992, 5376)])
    assert rows["model.layers.46.shared_head.head.weight"] == ([(61568, 66304)], [(0, 4096)])
