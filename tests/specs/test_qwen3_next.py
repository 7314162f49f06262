"""Qwen3-Next: which layers have linear attention, in two spellings."""

from __future__ import annotations

from tests.specs.support import kept
from tests.support import checkpoint

TABLE = "qwen3-next-80b-a3b"


def test_the_published_config_has_an_interval() -> None:
    """The recorded config is transformers' spelling, a list of layer_types."""
    theirs = {key: value for key, value in checkpoint(TABLE).config.data.items() if key != "layer_types"}
    theirs["full_attention_interval"] = 4
    assert kept("qwen3_next", theirs, tp=8, rank=3) == kept("qwen3_next", TABLE, tp=8, rank=3)


def test_layer_types_are_believed() -> None:
    """Kinds that no interval describes: full attention first and last."""
    theirs = dict(checkpoint(TABLE).config.data)
    theirs["layer_types"] = ["full_attention" if layer in (0, 47) else "linear_attention" for layer in range(48)]
    names = kept("qwen3_next", theirs, tp=8, rank=3).keys()
    full = {layer for layer in range(48) if f"model.layers.{layer}.self_attn.q_proj.weight" in names}
    linear = {layer for layer in range(48) if f"model.layers.{layer}.linear_attn.A_log" in names}
    assert (full, linear) == ({0, 47}, set(range(1, 47)))
