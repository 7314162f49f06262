"""The first Qwen: q | k | v, and an intermediate_size that counts both halves of the gated MLP."""

from __future__ import annotations

from tests.specs.support import kept

CONFIG = {
    "architectures": ["QWenLMHeadModel"], "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
    "kv_channels": 128, "intermediate_size": 22016, "vocab_size": 151936, "no_bias": True, "tie_word_embeddings": False,
}  # fmt: skip
LAYER = "transformer.h.31."


def test_rank_3_of_4() -> None:
    """The 7B: 32 heads of 128, of which rank 3 has the last 8; its MLP is 11008 wide."""
    rows = kept("qwen1", CONFIG, tp=4, rank=3)
    assert rows[LAYER + "attn.c_attn.weight"] == ([(3072, 4096), (7168, 8192), (11264, 12288)], [(0, 4096)])
    assert rows[LAYER + "attn.c_attn.bias"] == ([(3072, 4096), (7168, 8192), (11264, 12288)],)
    assert rows[LAYER + "mlp.w1.weight"] == rows[LAYER + "mlp.w2.weight"] == ([(8256, 11008)], [(0, 4096)])
    assert rows[LAYER + "mlp.c_proj.weight"] == ([(0, 4096)], [(8256, 11008)])
    assert len(rows) == 3 + 32 * 8


def test_gptq_files_have_every_bias() -> None:
    rows = kept("qwen1", {**CONFIG, "quantization_config": {"quant_method": "gptq"}}, tp=2, rank=1)
    assert rows[LAYER + "mlp.w2.bias"] == ([(5504, 11008)],)
    assert rows[LAYER + "mlp.c_proj.bias"] == ([],)
