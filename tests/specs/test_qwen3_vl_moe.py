"""Qwen3-VL-MoE: stacked experts stored [in, out], and one merger for each layer that takes visual features."""

from __future__ import annotations

from tests.specs.support import kept

TABLE = "qwen3-vl-30b-a3b"
LAYER = "model.language_model.layers.0."


def test_experts_stored_in_out() -> None:
    """128 experts of 768 features, gate then up on the last dim: tp rank 1 of 2 has 384 of each, ep rank 3 of 4, 32."""
    rows = kept("qwen3_vl_moe", TABLE, tp=2, rank=1, ep=4, ep_rank=3)
    assert rows[LAYER + "mlp.experts.gate_up_proj"] == ([(96, 128)], [(0, 2048)], [(384, 768), (1152, 1536)])
    assert rows[LAYER + "mlp.experts.down_proj"] == ([(96, 128)], [(384, 768)], [(0, 2048)])


def test_mergers() -> None:
    """Layers 8, 16 and 24 have one each, numbered 0 to 2; 4 patches of 1152 features are joined."""
    rows = kept("qwen3_vl_moe", TABLE, tp=2, rank=1)
    assert rows["model.visual.deepstack_merger_list.2.norm.weight"] == ([(0, 4608)],)
    assert rows["model.visual.merger.norm.weight"] == ([(0, 1152)],)
    assert "model.visual.deepstack_merger_list.3.norm.weight" not in rows
