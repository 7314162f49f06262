"""DeepSeek-V2, V3 and GLM-5: heads are cut behind the latent, in pairs where FP8 blocks cross them."""

from __future__ import annotations

from shardc.plan.bound import bind
from shardc.plan.compile import compile_plan
from shardc.plan.evidence import Evidence
from tests.specs.support import kept, spec_named
from tests.support import checkpoint

V3, V2_LITE, GLM_5 = "deepseek-v3-fp8", "deepseek-v2-lite", "glm-5"
ATTENTION = "model.layers.7.self_attn."


def test_heads_behind_the_latent() -> None:
    """128 heads: rank 3 of 16 has 24 to 31, of 192 query rows, 256 rows of k and v, and 128 columns each."""
    rows = kept("deepseek_v3", V3, tp=16, rank=3)
    assert rows[ATTENTION + "q_b_proj.weight"] == ([(4608, 6144)], [(0, 1536)])
    assert rows[ATTENTION + "q_b_proj.weight_scale_inv"] == ([(36, 48)], [(0, 12)])
    assert rows[ATTENTION + "kv_b_proj.weight"] == ([(6144, 8192)], [(0, 512)])
    assert rows[ATTENTION + "o_proj.weight"] == ([(0, 7168)], [(3072, 4096)])


def test_the_latent_is_whole() -> None:
    """576 rows are four and a half blocks: the fifth row of scales serves 64 rows, and no rank cuts there."""
    rows = kept("deepseek_v3", V3, tp=16, rank=3)
    assert rows[ATTENTION + "kv_a_proj_with_mqa.weight"] == ([(0, 576)], [(0, 7168)])
    assert rows[ATTENTION + "kv_a_proj_with_mqa.weight_scale_inv"] == ([(0, 5)], [(0, 56)])


def test_a_pair_of_heads_is_not_cut() -> None:
    """At tp=64 a rank would have one of GLM-5's 64 heads: in BF16 it may, in FP8 two heads of 256 rows are whole blocks
    but its keys and values, 448 rows a head, cross a block."""
    assert kept("deepseek_v3", GLM_5, tp=64, rank=63)[ATTENTION + "kv_b_proj.weight"] == ([(28224, 28672)], [(0, 512)])
    one = checkpoint("glm-5-fp8")
    bound = bind(spec_named("deepseek_v3"), Evidence(one.name, one.config.data, one.headers, grids=one.grids))
    assert bound.granules["heads"] == 2
    assert not compile_plan(bound, {"tp": 64}).ok


def test_copies_of_embedding_and_head() -> None:
    v3, glm = kept("deepseek_v3", V3, tp=2, rank=1), kept("deepseek_v3", GLM_5, tp=2, rank=1)
    assert (
        v3["model.layers.61.embed_tokens.weight"] == v3["model.embed_tokens.weight"] == ([(64640, 129280)], [(0, 7168)])
    )
    assert "model.layers.78.embed_tokens.weight" not in glm and "model.layers.78.enorm.weight" in glm


def test_queries_without_a_latent() -> None:
    """16 heads of 192 rows: rank 1 of 2 has the upper eight. The gate has no bias here."""
    rows = kept("deepseek_v3", V2_LITE, tp=2, rank=1)
    assert rows[ATTENTION + "q_proj.weight"] == ([(1536, 3072)], [(0, 2048)])
    assert "model.layers.7.mlp.gate.e_score_correction_bias" not in rows


def test_the_indexer_is_whole() -> None:
    rows = kept("deepseek_v3", "glm-5-fp8", tp=16, rank=5)
    assert rows[ATTENTION + "indexer.wq_b.weight"] == ([(0, 4096)], [(0, 2048)])
    assert rows[ATTENTION + "indexer.weights_proj.weight"] == ([(0, 32)], [(0, 6144)])


def test_layers_that_use_the_choice_of_another_have_no_indexer() -> None:
    """GLM-5.2: of 78 layers, the first two and then one in four have one, 21 in all; so has the MTP layer."""
    rules = {"index_topk_freq": 4, "index_skip_topk_offset": 3}
    layers = [0, 1, *range(2, 78, 4), 78]
    named = ["full" if layer in layers else "shared" for layer in range(78)]
    for said in (rules, {"indexer_types": named}):
        rows = kept("deepseek_v3", {**checkpoint(GLM_5).config.data, **said}, tp=2, rank=1)
        assert [int(name.split(".")[2]) for name in rows if name.endswith("indexer.wk.weight")] == layers


def test_awq_packs_outputs_and_groups_inputs() -> None:
    """2048 features over 32 ranks: 64 a rank, one group of inputs, eight words of outputs. No MTP layer in this file."""
    rows = kept("deepseek_v3", "deepseek-r1-awq", tp=32, rank=3)
    expert = "model.layers.7.mlp.experts.9."
    assert rows[expert + "down_proj.qweight"] == ([(192, 256)], [(0, 896)])
    assert rows[expert + "down_proj.qzeros"] == ([(3, 4)], [(0, 896)])
    assert rows[expert + "gate_proj.qweight"] == ([(0, 7168)], [(24, 32)])
    assert rows[expert + "gate_proj.scales"] == ([(0, 112)], [(192, 256)])
    assert not [name for name in rows if name.startswith("model.layers.61.")]


def test_without_a_file_the_mtp_layer_is_there() -> None:
    rows = kept("deepseek_v3", checkpoint(V3).config.data, tp=1, rank=0)
    assert "model.layers.61.mlp.experts.255.down_proj.weight" in rows
