"""GPT-NeoX: q, k and v of one head lie together, so a rank's heads are one range of rows."""

from __future__ import annotations

from tests.specs.support import kept, spec_named

PYTHIA = "pythia-1.4b-oasst-rm"
LAYER = "gpt_neox.layers.3."


def test_heads_of_a_rank_are_one_range() -> None:
    """16 heads of 128: rank 1 of 4 has heads 4 to 7, each 3 * 128 rows."""
    rows = kept("gpt_neox", PYTHIA, tp=4, rank=1)
    assert rows[LAYER + "attention.query_key_value.weight"] == ([(1536, 3072)], [(0, 2048)])
    assert rows[LAYER + "attention.query_key_value.bias"] == ([(1536, 3072)],)
    assert rows[LAYER + "attention.dense.weight"] == ([(0, 2048)], [(512, 1024)])


def test_biases_after_an_all_reduce_are_on_rank_0() -> None:
    names = [LAYER + "attention.dense.bias", LAYER + "mlp.dense_4h_to_h.bias"]
    assert [kept("gpt_neox", PYTHIA, tp=4, rank=0)[name] for name in names] == [([(0, 2048)],)] * 2
    assert [kept("gpt_neox", PYTHIA, tp=4, rank=1)[name] for name in names] == [([],)] * 2


def test_the_head_goes_by_the_class() -> None:
    config = {
        "architectures": ["GPTNeoXForCausalLM"], "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4,
        "intermediate_size": 256, "vocab_size": 256,
    }  # fmt: skip
    rows = kept("gpt_neox", config, tp=2, rank=1)
    assert rows["embed_out.weight"] == ([(128, 256)], [(0, 64)])
    assert "out_proj.weight" not in rows and "embed_out.weight" not in kept("gpt_neox", PYTHIA, tp=2, rank=1)


def test_embed_out_is_gathered() -> None:
    entry = next(e for e in spec_named("gpt_neox").entries if e.pattern == "embed_out.weight")
    assert entry.collective == "gather"
