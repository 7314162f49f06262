"""BLOOM: heads of q, k and v side by side, and biases that only rank 0 adds."""

from __future__ import annotations

from tests.specs.support import kept


def test_heads_of_a_rank_are_one_range() -> None:
    """112 heads of 128: rank 6 of 7 has heads 96 to 111, each 3 * 128 rows."""
    rows = kept("bloom", "bloom-176b", tp=7, rank=6)
    assert rows["h.69.self_attention.query_key_value.weight"] == ([(36864, 43008)], [(0, 14336)])
    assert rows["h.69.self_attention.query_key_value.bias"] == ([(36864, 43008)],)
    assert rows["h.69.self_attention.dense.weight"] == ([(0, 14336)], [(12288, 14336)])
    assert rows["h.69.self_attention.dense.bias"] == ([],)
    assert "lm_head.weight" not in rows
