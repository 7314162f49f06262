"""Gemma, GLM-4, Phi-3 and gpt-oss."""

from __future__ import annotations

from copy import copy
from typing import Any

from shardc.prove.family import Family, grouped_query, rows

_ATTENTION = ("GemmaAttention", "Glm4Attention", "Glm4MoeAttention", "GptOssAttention")


def _fused_query_key_value(module: Any) -> None:
    """Heads by the width of o_proj, key and value heads by what qkv_proj has beside the queries.

    The class takes its query heads from the config that all modules share: the module gets one of its own.
    """
    heads = module.o_proj.weight.shape[1] // module.head_dim
    module.num_key_value_heads = (rows(module.qkv_proj) // module.head_dim - heads) // 2
    module.num_key_value_groups = heads // module.num_key_value_heads
    module.config = copy(module.config)
    module.config.num_attention_heads = heads


FAMILIES: tuple[Family, ...] = (
    Family(model_types=("gemma", "glm4", "glm4_moe", "gpt_oss"), counts=dict.fromkeys(_ATTENTION, grouped_query)),
    Family(model_types=("phi3",), counts={"Phi3Attention": _fused_query_key_value}),
)
