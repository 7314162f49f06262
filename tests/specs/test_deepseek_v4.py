"""DeepSeek-V4: heads are dealt in output groups; windows of ratio 4 overlap; experts are in FP4."""

from __future__ import annotations

from tests.specs.support import kept

TABLE = "deepseek-v4-flash"


def test_groups_of_heads() -> None:
    """64 heads of 512 in 8 groups, 1024 outputs each: rank 1 of 4 has groups 2 and 3, which are heads 16 to 31."""
    rows = kept("deepseek_v4", TABLE, tp=4, rank=1)
    at = "layers.5.attn."
    assert rows[at + "attn_sink"] == ([(16, 32)],)
    assert rows[at + "wq_b.weight"] == ([(8192, 16384)], [(0, 1024)])
    assert rows[at + "wo_a.weight"] == ([(2048, 4096)], [(0, 4096)])
    assert rows[at + "wo_a.scale"] == ([(16, 32)], [(0, 32)])
    assert rows[at + "wo_b.weight"] == ([(0, 4096)], [(2048, 4096)])
    assert rows[at + "wkv.weight"] == ([(0, 512)], [(0, 4096)])


def test_fp4_experts() -> None:
    """2048 features over 8 ranks: 256 a rank, two to a byte and 32 to a scale along the input."""
    rows = kept("deepseek_v4", TABLE, tp=8, rank=7)
    at = "layers.5.ffn.experts.255."
    assert rows[at + "w2.weight"] == ([(0, 4096)], [(896, 1024)])
    assert rows[at + "w2.scale"] == ([(0, 4096)], [(56, 64)])
    assert rows[at + "w1.scale"] == ([(1792, 2048)], [(0, 128)])


def test_layers_differ() -> None:
    rows = kept("deepseek_v4", TABLE, tp=8, rank=7)
    assert rows["layers.2.attn.compressor.ape"] == ([(0, 4)], [(0, 1024)])
    assert rows["layers.3.attn.compressor.ape"] == ([(0, 128)], [(0, 512)])
    assert "layers.1.attn.compressor.ape" not in rows and "layers.3.attn.indexer.wq_b.weight" not in rows
    assert rows["layers.2.ffn.gate.tid2eid"] == ([(0, 129280)], [(0, 6)])
    assert "layers.2.ffn.gate.bias" not in rows and "layers.3.ffn.gate.bias" in rows
