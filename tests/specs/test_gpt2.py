"""GPT-2: weights are stored [in, out], so what other files cut in rows is cut in columns, and the other way round."""

from __future__ import annotations

from tests.specs.support import kept

CONFIG = {
    "architectures": ["GPT2LMHeadModel"], "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024,
    "n_inner": None, "vocab_size": 50257,
}  # fmt: skip


def test_rank_1_of_3() -> None:
    """The smallest size: 12 heads of 64, of which rank 1 has heads 4 to 7."""
    rows = kept("gpt2", CONFIG, tp=3, rank=1)
    assert rows["h.11.attn.c_attn.weight"] == ([(0, 768)], [(256, 512), (1024, 1280), (1792, 2048)])
    assert rows["h.11.attn.c_attn.bias"] == ([(256, 512), (1024, 1280), (1792, 2048)],)
    assert rows["h.11.attn.c_proj.weight"] == ([(256, 512)], [(0, 768)])
    assert rows["h.11.mlp.c_fc.weight"] == ([(0, 768)], [(1024, 2048)])
    assert rows["h.11.mlp.c_proj.weight"] == ([(1024, 2048)], [(0, 768)])
    assert rows["h.11.attn.c_proj.bias"] == rows["h.11.mlp.c_proj.bias"] == ([],)
    assert len(rows) == 2 + 12 * 12 + 2 and "lm_head.weight" not in rows


def test_the_vocabulary_is_padded() -> None:
    """50257 rows to the next multiple of lcm(64, 3): 50304, of which rank 2 has the last 16768, 47 of them zeros."""
    assert kept("gpt2", CONFIG, tp=3, rank=2)["wte.weight"] == ([(33536, 50257)], [(0, 768)])
