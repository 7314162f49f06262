"""Falcon: three layouts of query_key_value under one name, by two flags."""

from __future__ import annotations

from tests.specs.support import kept

LAYER = "transformer.h.7."
SMALL = {
    "architectures": ["FalconForCausalLM"], "hidden_size": 32, "num_hidden_layers": 8, "num_attention_heads": 4,
    "vocab_size": 256, "bias": True,
}  # fmt: skip


def test_grouped() -> None:
    """The 180B: 8 groups of 29 q heads, a k and a v, each of 64 rows; rank 3 of 4 has groups 6 and 7."""
    rows = kept("falcon", "falcon-180b-chat", tp=4, rank=3)
    assert rows[LAYER + "self_attention.query_key_value.weight"] == ([(2 * 3 * 31 * 64, 2 * 4 * 31 * 64)], [(0, 14848)])
    assert rows[LAYER + "self_attention.dense.weight"] == ([(0, 14848)], [(3 * 58 * 64, 4 * 58 * 64)])


def test_a_group_shared_by_ranks() -> None:
    """2 groups of 2 q heads of 8 rows: rank 2 of 4 has the first q of group 1, and its k and v as rank 3 does."""
    config = {**SMALL, "new_decoder_architecture": True, "num_kv_heads": 2}
    name = LAYER + "self_attention.query_key_value.bias"
    assert kept("falcon", config, tp=4, rank=2)[name] == ([(32, 40), (48, 64)],)
    assert kept("falcon", config, tp=4, rank=3)[name] == ([(40, 64)],)


def test_multi_query() -> None:
    """4 q heads of 8 rows, then one k and one v that every rank keeps; what num_kv_heads says is not read."""
    config = {**SMALL, "multi_query": True, "num_kv_heads": 4}
    rows = kept("falcon", config, tp=2, rank=1)
    assert rows[LAYER + "self_attention.query_key_value.weight"] == ([(16, 48)], [(0, 32)])
    assert rows[LAYER + "self_attention.dense.weight"] == ([(0, 32)], [(16, 32)])
    assert kept("falcon", config, tp=2, rank=0)[LAYER + "self_attention.query_key_value.bias"] == ([(0, 16), (32, 48)],)


def test_per_head() -> None:
    config = {**SMALL, "multi_query": False, "alibi": True, "parallel_attn": False}
    rows = kept("falcon", config, tp=4, rank=1)
    assert rows[LAYER + "self_attention.query_key_value.weight"] == ([(24, 48)], [(0, 32)])
    assert rows[LAYER + "mlp.dense_4h_to_h.bias"] == ([],)


def test_norms_by_flags() -> None:
    def norms(**flags: object) -> list[str]:
        rows = kept("falcon", {**SMALL, **flags}, tp=1, rank=0)
        return [n.removeprefix(LAYER).removesuffix(".weight") for n in rows if n.startswith(LAYER) and "weight" in n
                and ("norm" in n or ".ln_" in n)]  # fmt: skip

    assert norms() == ["input_layernorm"]
    assert norms(parallel_attn=False) == ["input_layernorm", "post_attention_layernorm"]
    assert norms(new_decoder_architecture=True, num_ln_in_parallel_attn=1) == ["input_layernorm"]
    assert norms(new_decoder_architecture=True) == ["ln_attn", "ln_mlp"]
