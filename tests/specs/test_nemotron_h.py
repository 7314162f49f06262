"""Nemotron-H: five segments of a Mamba-2 projection, and a mixer chosen by one letter of a string."""

from __future__ import annotations

from shardc.plan.compile import compile_plan
from tests.specs.support import bound_to, kept

NANO, NVFP4 = "nemotron-3-nano-30b-a3b", "nemotron-3-nano-30b-a3b-nvfp4"
DENSE = {
    "architectures": ["NemotronHForCausalLM"], "hidden_size": 64, "num_hidden_layers": 3, "vocab_size": 256,
    "hybrid_override_pattern": "M-*", "num_attention_heads": 4, "num_key_value_heads": 2, "attention_head_dim": 16,
    "mamba_num_heads": 8, "mamba_head_dim": 8, "n_groups": 4, "ssm_state_size": 16, "conv_kernel": 4,
    "intermediate_size": 96, "use_bias": True,
}  # fmt: skip


def test_mamba() -> None:
    """64 heads of 64 in 8 groups of state 128: z and x of 4096 rows, B and C of 1024, dt of 64; rank 3 of 4."""
    rows = kept("nemotron_h", NANO, tp=4, rank=3)
    layer = "backbone.layers.0.mixer."
    z, x, b, c, dt = (3072, 4096), (7168, 8192), (8960, 9216), (9984, 10240), (10288, 10304)
    assert rows[layer + "in_proj.weight"] == ([z, x, b, c, dt], [(0, 2688)])
    assert rows[layer + "conv1d.weight"] == ([(3072, 4096), (4864, 5120), (5888, 6144)], [(0, 1)], [(0, 4)])
    assert rows[layer + "A_log"] == ([(48, 64)],)
    assert rows[layer + "norm.weight"] == ([(3072, 4096)],)
    assert rows[layer + "out_proj.weight"] == ([(0, 2688)], [(3072, 4096)])


def test_nvfp4() -> None:
    """Two values a byte and a scale for 16: columns 3072 to 4096 of out_proj are bytes 1536 to 2048, scales 192 to 256."""
    rows = kept("nemotron_h", NVFP4, tp=4, rank=3)
    layer = "backbone.layers.0.mixer."
    assert rows[layer + "out_proj.weight"] == ([(0, 2688)], [(1536, 2048)])
    assert rows[layer + "out_proj.weight_scale"] == ([(0, 2688)], [(192, 256)])
    assert rows["backbone.layers.4.mixer.out_proj.weight"] == ([(0, 2688)], [(3072, 4096)])  # kept in BF16
    # An expert's 1856 features are 116 groups, 29 for each rank.
    assert rows["backbone.layers.1.mixer.experts.127.down_proj.weight_scale"] == ([(0, 2688)], [(87, 116)])


def test_a_rank_holds_whole_groups() -> None:
    result = compile_plan(bound_to("nemotron_h", NANO), {"tp": 16})
    assert {fault.contract.use for fault in result.contracts} == {"mamba2_group_norm"}
    assert result.contracts[0].values == {"heads": 4, "heads_per_group": 8}


def test_a_dense_model() -> None:
    rows = kept("nemotron_h", DENSE, tp=2, rank=1)
    mixer = "backbone.layers.{}.mixer."
    assert rows[mixer.format(0) + "in_proj.bias"] == ([(32, 64), (96, 128), (160, 192), (224, 256), (260, 264)],)
    assert rows[mixer.format(0) + "out_proj.bias"] == ([],)
    assert rows[mixer.format(1) + "down_proj.weight"] == ([(0, 64)], [(48, 96)])
    assert rows[mixer.format(2) + "k_proj.weight"] == ([(16, 32)], [(0, 64)])
    assert not [name for name in rows if "expert" in name or ".gate." in name]
