"""Qwen3.5: GDN layers with flat q, k and v; dense models, and classes without a vision tower, by the same spec."""

from __future__ import annotations

from typing import Any

from tests.specs.support import kept

TABLE = "qwen3.5-35b-a3b"
GDN = "model.language_model.layers.0.linear_attn."
DENSE: dict[str, Any] = {
    "architectures": ["Qwen3_5ForCausalLM"], "hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 256,
    "layer_types": ["linear_attention", "full_attention"], "num_attention_heads": 4, "num_key_value_heads": 2,
    "head_dim": 16, "linear_num_key_heads": 2, "linear_num_value_heads": 6, "linear_key_head_dim": 8,
    "linear_value_head_dim": 8, "linear_conv_kernel_dim": 4, "intermediate_size": 96, "mtp_num_hidden_layers": 1,
}  # fmt: skip


def test_each_part_of_a_gdn_layer() -> None:
    """16 key heads of 128 and 32 value heads of 128: rank 3 of 4 has key heads 12 to 15, value heads 24 to 31."""
    rows = kept("qwen3_5", TABLE, tp=4, rank=3)
    assert rows[GDN + "conv1d.weight"] == ([(1536, 2048), (3584, 4096), (7168, 8192)], [(0, 1)], [(0, 4)])
    assert rows[GDN + "in_proj_qkv.weight"] == ([(1536, 2048), (3584, 4096), (7168, 8192)], [(0, 2048)])
    assert rows[GDN + "in_proj_z.weight"] == ([(3072, 4096)], [(0, 2048)])
    assert rows[GDN + "dt_bias"] == ([(24, 32)],)
    assert rows["model.visual.blocks.26.attn.qkv.weight"] == ([(0, 3456)], [(0, 1152)])


def test_a_head_of_q_proj_is_query_and_gate() -> None:
    """16 heads of 2 * 256 rows, 2 kv heads: rank 5 of 8 has heads 10 and 11, and kv head 1."""
    rows = kept("qwen3_5", TABLE, tp=8, rank=5)
    attention = "model.language_model.layers.3.self_attn."
    assert rows[attention + "q_proj.weight"] == ([(5120, 6144)], [(0, 2048)])
    assert rows[attention + "k_proj.weight"] == ([(256, 512)], [(0, 2048)])
    assert rows[attention + "o_proj.weight"] == ([(0, 2048)], [(2560, 3072)])


def test_a_dense_model_without_a_tower() -> None:
    """Three value heads a key head; the config is not nested."""
    rows = kept("qwen3_5", DENSE, tp=2, rank=1)
    assert rows[GDN + "in_proj_qkv.weight"] == ([(8, 16), (24, 32), (56, 80)], [(0, 64)])
    assert rows["mtp.layers.0.mlp.down_proj.weight"] == ([(0, 64)], [(48, 96)])
    assert not [name for name in rows if "expert" in name or "visual" in name]


def test_experts_stacked_or_one_by_one() -> None:
    """512 features, 256 experts: rank 1 of 2 has the upper half of gate and of up, ep rank 1 of 2 the upper 128."""
    base, mtp = "model.language_model.layers.0.mlp.experts.", "mtp.layers.0.mlp.experts."
    qwen3_5, qwen3_6, pruned = (
        kept("qwen3_5", table, tp=2, rank=1, ep=2, ep_rank=1)
        for table in (TABLE, "qwen3.6-35b-a3b", "qwen3.5-18b-reap")
    )
    stacked = ([(128, 256)], [(256, 512), (768, 1024)], [(0, 2048)])
    assert qwen3_5[base + "gate_up_proj"] == qwen3_6[base + "gate_up_proj"] == stacked
    assert qwen3_6[mtp + "gate_up_proj"] == stacked
    assert qwen3_5[mtp + "128.up_proj.weight"] == ([(256, 512)], [(0, 2048)])
    assert mtp + "127.up_proj.weight" not in qwen3_5
    assert pruned[base + "64.down_proj.weight"] == ([(0, 2048)], [(256, 512)])
    assert not [name for name in pruned if name.startswith("mtp.")]
