"""Kimi-Linear: KDA's tensors are cut by head, each at its own granularity; two spellings of the layers' kinds."""

from __future__ import annotations

from typing import Any

from tests.specs.support import kept
from tests.support import checkpoint

TABLE = "kimi-linear-48b-a3b"
KDA, MLA = "model.layers.0.self_attn.", "model.layers.3.self_attn."


def test_a_log_is_cut_in_its_third_dim() -> None:
    """32 heads of 128 channels: rank 3 of 8 has heads 12 to 15."""
    rows = kept("kimi_linear", TABLE, tp=8, rank=3)
    assert rows[KDA + "A_log"] == ([(0, 1)], [(0, 1)], [(12, 16)], [(0, 1)])
    assert rows[KDA + "dt_bias"] == ([(1536, 2048)],)
    assert rows[KDA + "b_proj.weight"] == ([(12, 16)], [(0, 2304)])
    assert rows[KDA + "k_conv1d.weight"] == ([(1536, 2048)], [(0, 1)], [(0, 4)])
    assert rows[KDA + "f_a_proj.weight"] == ([(0, 128)], [(0, 2304)])
    assert rows[KDA + "f_b_proj.weight"] == ([(1536, 2048)], [(0, 128)])


def test_the_published_config_counts_layers_from_1() -> None:
    """The recorded config is transformers' spelling of the model's own."""
    theirs: dict[str, Any] = {
        key: value for key, value in checkpoint(TABLE).config.data.items()
        if key not in ("layer_types", "mlp_layer_types") and not key.startswith("linear_")
    }  # fmt: skip
    full = [4, 8, 12, 16, 20, 24, 27]
    theirs["first_k_dense_replace"] = 1
    theirs["linear_attn_config"] = {
        "full_attn_layers": full, "kda_layers": [layer for layer in range(1, 28) if layer not in full],
        "num_heads": 32, "head_dim": 128, "short_conv_kernel_size": 4,
    }  # fmt: skip
    rows = kept("kimi_linear", theirs, tp=8, rank=3)
    assert rows == kept("kimi_linear", TABLE, tp=8, rank=3)
    assert rows[MLA + "q_proj.weight"] == ([(2304, 3072)], [(0, 2304)])  # 4 heads of 192 rows


def test_dense_layers_are_those_that_mlp_layer_types_says() -> None:
    """transformers writes the kind of each layer's MLP, and no first_k_dense_replace: here layers 0 and 5 are dense."""
    theirs = dict(checkpoint(TABLE).config.data)
    theirs["mlp_layer_types"] = ["dense" if layer in (0, 5) else "sparse" for layer in range(27)]
    names = kept("kimi_linear", theirs, tp=8, rank=3).keys()
    dense = {layer for layer in range(27) if f"model.layers.{layer}.mlp.up_proj.weight" in names}
    sparse = {layer for layer in range(27) if f"model.layers.{layer}.block_sparse_moe.gate.weight" in names}
    assert (dense, sparse) == ({0, 5}, set(range(27)) - {0, 5})
