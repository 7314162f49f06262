"""Gemma, GLM-4, Phi-3, gpt-oss, Llama 4 and Qwen3-VL."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

from shardc.prove.family import Family, Tensors, grouped_query, rows

_ATTENTION = (
    "GemmaAttention",
    "Gemma3Attention",
    "Gemma4TextAttention",
    "Glm4Attention",
    "Glm4MoeAttention",
    "GptOssAttention",
    "Llama4TextAttention",
    "Qwen3VLMoeTextAttention",
)


def _fused_query_key_value(module: Any) -> None:
    """Heads by the width of o_proj, key and value heads by what qkv_proj has beside the queries.

    The class takes its query heads from the config that all modules share: the module gets one of its own.
    """
    heads = module.o_proj.weight.shape[1] // module.head_dim
    module.num_key_value_heads = (rows(module.qkv_proj) // module.head_dim - heads) // 2
    module.num_key_value_groups = heads // module.num_key_value_heads
    module.config = copy(module.config)
    module.config.num_attention_heads = heads


def _experts_in_out(tensors: Tensors, config: Mapping[str, Any]) -> Tensors:
    """Experts' tensors [experts, out, in] as files of Qwen3-VL have them, [experts, in, out].

    transformers turns those of a file, but leaves its own as they are.
    """
    return {name: tensor.mT if ".mlp.experts." in name else tensor for name, tensor in tensors.items()}


def _without_images(model: Any) -> None:
    """The class asks its language model for outputs of images, which that does not have."""

    def hook(module: Any, args: Any, output: Any) -> None:
        output.image_outputs = None

    model.language_model.register_forward_hook(hook)


FAMILIES: tuple[Family, ...] = (
    Family(
        model_types=("gemma", "gemma4", "glm4", "glm4_moe", "gpt_oss"),
        counts=dict.fromkeys(_ATTENTION, grouped_query),
    ),
    Family(model_types=("llama4",), counts=dict.fromkeys(_ATTENTION, grouped_query), mend=_without_images),
    Family(
        model_types=("gemma3",),
        counts=dict.fromkeys(_ATTENTION, grouped_query),
        renames=((r"^vision_tower\.", "vision_tower.vision_model."),),
        back=((r"^vision_tower\.vision_model\.", "vision_tower."),),
    ),
    Family(model_types=("phi3",), counts={"Phi3Attention": _fused_query_key_value}),
    Family(model_types=("qwen3_vl_moe",), counts=dict.fromkeys(_ATTENTION, grouped_query), to_file=_experts_in_out),
)
