"""Llama 4: stacked experts stored [in, out]: gate and up are halves of the last dim, down is cut in the middle one."""

from __future__ import annotations

from tests.specs.support import kept

SCOUT = "llama-4-scout"
LAYER = "language_model.model.layers.47.feed_forward."


def test_experts() -> None:
    """8192 features of each of 16 experts: rank 3 of 4 has the last 2048 of the gate half, then those of the up half."""
    rows = kept("llama4", SCOUT, tp=4, rank=3)
    gate_up = [(6144, 8192), (14336, 16384)]
    assert rows[LAYER + "experts.gate_up_proj"] == ([(0, 16)], [(0, 5120)], gate_up)
    assert rows[LAYER + "experts.down_proj"] == ([(0, 16)], [(6144, 8192)], [(0, 5120)])


def test_the_vision_tower_is_cut_by_its_heads() -> None:
    """16 heads of 88: rank 3 of 4 has the last four."""
    rows = kept("llama4", SCOUT, tp=4, rank=3)
    layer = "vision_model.model.layers.33."
    assert rows[layer + "self_attn.k_proj.weight"] == ([(1056, 1408)], [(0, 1408)])
    assert rows[layer + "self_attn.o_proj.weight"] == ([(0, 1408)], [(1056, 1408)])
    assert rows[layer + "self_attn.o_proj.bias"] == rows[layer + "mlp.fc2.bias"] == ([],)


def test_dense_layers_lie_between() -> None:
    """Every second layer: experts in layer 1, a dense MLP of another width in layer 0."""
    text = {
        "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
        "intermediate_size": 16, "intermediate_size_mlp": 64, "num_local_experts": 4, "interleave_moe_layer_step": 2,
        "vocab_size": 256,
    }  # fmt: skip
    vision = {
        "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64, "image_size": 8,
        "vision_output_dim": 32, "projector_input_dim": 32, "projector_output_dim": 32, "patch_size": 4,
        "num_channels": 3,
    }  # fmt: skip
    config = {"architectures": ["Llama4ForConditionalGeneration"], "text_config": text, "vision_config": vision}
    rows = kept("llama4", config, tp=2, rank=1)
    assert rows["language_model.model.layers.0.feed_forward.up_proj.weight"] == ([(32, 64)], [(0, 32)])
    assert rows["language_model.model.layers.1.feed_forward.experts.down_proj"] == ([(0, 4)], [(8, 16)], [(0, 32)])
    assert [n for n in rows if "layers.0" in n and "expert" in n] == []
