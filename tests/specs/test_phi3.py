"""Phi-3: q, k and v in one tensor, gate and up in another."""

from __future__ import annotations

from tests.specs.support import kept

AT = "model.layers.31."


def test_a_rank_has_its_part_of_each_segment() -> None:
    """32 heads of 96 and as many kv heads; 8192 features. Rank 3 of 4 has the last quarter of each."""
    rows = kept("phi3", "phi-3-mini", tp=4, rank=3)
    assert rows[AT + "self_attn.qkv_proj.weight"] == ([(2304, 3072), (5376, 6144), (8448, 9216)], [(0, 3072)])
    assert rows[AT + "mlp.gate_up_proj.weight"] == ([(6144, 8192), (14336, 16384)], [(0, 3072)])


def test_segments_need_not_be_thirds() -> None:
    """10 kv heads of 128 for 40 heads: rank 1 of 5 has heads 8 to 15, and kv heads 2 and 3."""
    config = {
        "architectures": ["Phi3ForCausalLM"], "hidden_size": 5120, "num_hidden_layers": 40, "vocab_size": 32064,
        "num_attention_heads": 40, "num_key_value_heads": 10, "intermediate_size": 17920,
    }  # fmt: skip
    rows = kept("phi3", config, tp=5, rank=1)
    assert rows[AT + "self_attn.qkv_proj.weight"] == ([(1024, 2048), (5376, 5632), (6656, 6912)], [(0, 5120)])
