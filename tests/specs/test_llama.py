"""Llama and its relatives: biases and a tied head by flags, and a default that depends on the class."""

from __future__ import annotations

from tests.specs.support import kept

ATTENTION = "model.layers.2.self_attn."


def test_biases_follow_their_rows() -> None:
    """Granite: 32 heads of 80 and 10240 features; what comes before an all-reduce is on rank 0 alone."""
    rows = kept("llama", "granite-3b-code-instruct-128k", tp=4, rank=1)
    assert rows[ATTENTION + "k_proj.bias"] == ([(640, 1280)],)
    assert rows["model.layers.2.mlp.up_proj.bias"] == ([(2560, 5120)],)
    assert rows[ATTENTION + "o_proj.bias"] == rows["model.layers.2.mlp.down_proj.bias"] == ([],)


def test_the_width_of_a_head_is_the_configs() -> None:
    """Devstral: 32 heads of 128, though 5120 / 32 = 160."""
    rows = kept("llama", "devstral-small-2507", tp=8, rank=1)
    assert rows[ATTENTION + "q_proj.weight"] == ([(512, 1024)], [(0, 5120)])
    assert rows[ATTENTION + "o_proj.weight"] == ([(0, 5120)], [(512, 1024)])


def test_smollm3_is_tied_unless_its_config_says_otherwise() -> None:
    assert "lm_head.weight" not in kept("llama", "smollm3-3b", tp=1, rank=0)
    assert "lm_head.weight" in kept("llama", "llama-3.1-8b", tp=1, rank=0)
