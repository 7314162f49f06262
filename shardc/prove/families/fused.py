"""GPT-2, BLOOM, Falcon and Phi-3: q, k and v in one projection."""

from __future__ import annotations

from copy import copy
from typing import Any

from shardc.prove.family import Family, PerHead, rows

#: [hidden, heads * head_dim]: its columns tell which heads' ALiBi a module needs.
_HEADS = "dense.weight"


def _conv1d(module: Any) -> None:
    """A weight of [in, out]."""
    module.nx, module.nf = module.weight.shape


def _gpt2(module: Any) -> None:
    """c_attn is [hidden, q | k | v], each of heads * head_dim."""
    module.split_size = module.c_attn.weight.shape[1] // 3
    module.num_heads = module.split_size // module.head_dim


def _bloom(module: Any) -> None:
    """dense is [hidden, heads * head_dim]."""
    module.num_heads = module.dense.weight.shape[1] // module.head_dim


def _falcon(module: Any) -> None:
    """q has as many rows as dense has columns; what query_key_value has besides is k and v of each kv head."""
    rows, columns = module.query_key_value.weight.shape[0], module.dense.weight.shape[1]
    module.num_heads = columns // module.head_dim
    module.num_kv_heads = (rows - columns) // (2 * module.head_dim)


def _phi3(module: Any) -> None:
    """Heads by the width of o_proj, key and value heads by what qkv_proj has beside the queries.

    The class takes its query heads from the config that all modules share: the module gets one of its own.
    """
    heads = module.o_proj.weight.shape[1] // module.head_dim
    module.num_key_value_heads = (rows(module.qkv_proj) // module.head_dim - heads) // 2
    module.num_key_value_groups = heads // module.num_key_value_heads
    module.config = copy(module.config)
    module.config.num_attention_heads = heads


FAMILIES: tuple[Family, ...] = (
    Family(
        model_types=("gpt2",),
        counts={"Conv1D": _conv1d, "GPT2Attention": _gpt2},
        renames=((r"^transformer\.", ""),),
    ),
    Family(
        model_types=("bloom",),
        counts={"BloomAttention": _bloom},
        renames=((r"^transformer\.", ""),),
        per_head={"BloomAttention": PerHead(("alibi",), _HEADS)},
    ),
    Family(
        model_types=("falcon",),
        counts={"FalconAttention": _falcon},
        # With ALiBi the mask contains it, too.
        per_head={"FalconAttention": PerHead(("alibi", "attention_mask"), _HEADS)},
    ),
    Family(model_types=("phi3",), counts={"Phi3Attention": _phi3}),
)
