"""Gemma, three generations: one kv head for all ranks, a whole vision tower, two kinds of attention."""

from __future__ import annotations

from tests.specs.support import kept


def test_one_kv_head_for_all_ranks() -> None:
    rows = kept("gemma", "gemma-2b", tp=8, rank=7)
    assert rows["model.layers.17.self_attn.q_proj.weight"] == ([(1792, 2048)], [(0, 2048)])
    assert rows["model.layers.17.self_attn.k_proj.weight"] == ([(0, 256)], [(0, 2048)])
    assert "lm_head.weight" not in rows


def test_the_vision_tower_is_whole() -> None:
    rows = kept("gemma3", "gemma-3-27b-medgemma", tp=16, rank=9)
    at = "vision_tower.vision_model.encoder.layers.26."
    assert rows[at + "self_attn.q_proj.weight"] == ([(0, 1152)], [(0, 1152)])
    assert rows[at + "mlp.fc2.bias"] == ([(0, 1152)],)
    assert rows["multi_modal_projector.mm_input_projection_weight"] == ([(0, 1152)], [(0, 5376)])
    assert rows["language_model.model.layers.61.self_attn.o_proj.weight"] == ([(0, 5376)], [(2304, 2560)])


def test_each_kind_of_attention_has_heads_of_its_own() -> None:
    """Sliding: 16 heads of 256 on 8 kv heads. Full: 16 of 512 on 2, so ranks 0 and 1 share one. Rank 1 of 4."""
    rows = kept("gemma4", "gemma-4-26b-a4b", tp=4, rank=1)
    sliding, full = (f"model.language_model.layers.{layer}.self_attn." for layer in (4, 5))
    assert rows[sliding + "q_proj.weight"] == ([(1024, 2048)], [(0, 2816)])
    assert rows[sliding + "k_proj.weight"] == ([(512, 1024)], [(0, 2816)])
    assert rows[full + "q_proj.weight"] == ([(2048, 4096)], [(0, 2816)])
    assert rows[full + "k_proj.weight"] == ([(0, 512)], [(0, 2816)])
    assert rows[full + "o_proj.weight"] == ([(0, 2816)], [(2048, 4096)])
    assert sliding + "v_proj.weight" in rows and full + "v_proj.weight" not in rows


def test_experts_are_cut_in_both_meshes() -> None:
    """128 experts of 704 features: ep rank 1 of 2 has the upper 64; tp rank 3 of 4 the last 176 of gate and of up."""
    rows = kept("gemma4", "gemma-4-26b-a4b", tp=4, rank=3, ep=2, ep_rank=1)
    at = "model.language_model.layers.0.experts."
    assert rows[at + "gate_up_proj"] == ([(64, 128)], [(528, 704), (1232, 1408)], [(0, 2816)])
    assert rows[at + "down_proj"] == ([(64, 128)], [(0, 2816)], [(528, 704)])
