"""Qwen3-Next, Qwen3.5 and Kimi-Linear: layers of linear attention between layers of attention."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import torch

from shardc.prove.family import Family, Tensors, rows

#: More tokens than the 64 of a chunk, so that a state is carried from one chunk to the next.
_LENGTH = 80
_EXPERT = re.compile(r"(.+\.mlp\.experts)\.(\d+)\.(gate|up|down)_proj\.weight")


def _gated_attention(module: Any) -> None:
    """q_proj has a query and a gate of each head: 2 * head_dim rows."""
    module.num_key_value_groups = rows(module.q_proj) // (2 * rows(module.k_proj))


def _gated_delta_net(module: Any) -> None:
    """conv1d.weight is [2 * key channels + value channels, 1, kernel], A_log [value heads], norm.weight [value dim]."""
    module.num_v_heads = module.A_log.shape[0]
    module.head_v_dim = module.norm.weight.shape[0]
    module.value_dim = module.num_v_heads * module.head_v_dim
    module.key_dim = (rows(module.conv1d) - module.value_dim) // 2
    module.num_k_heads = module.key_dim // module.head_k_dim
    module.conv_dim = rows(module.conv1d)


def _delta_attention(module: Any) -> None:
    """q_proj is [heads * head dim, hidden], o_norm.weight [head dim]; q, k and v have as many channels each."""
    module.head_dim = module.o_norm.weight.shape[0]
    module.qkv_dim = rows(module.q_proj)
    module.num_heads = module.qkv_dim // module.head_dim
    module.conv_dim = rows(module.conv1d)


def _stacked(tensors: Tensors, config: Mapping[str, Any]) -> Tensors:
    """Experts as releases have them: gate_up_proj [experts, 2 * inter, hidden], down_proj [experts, hidden, inter]."""
    single: dict[str, dict[int, dict[str, torch.Tensor]]] = {}
    found: Tensors = {}
    for name, tensor in tensors.items():
        match = _EXPERT.fullmatch(name)
        if match is None:
            found[name] = tensor
        else:
            single.setdefault(match[1], {}).setdefault(int(match[2]), {})[match[3]] = tensor
    for at, experts in single.items():
        in_order = [experts[i] for i in sorted(experts)]
        found[f"{at}.gate_up_proj"] = torch.stack([torch.cat([one["gate"], one["up"]]) for one in in_order])
        found[f"{at}.down_proj"] = torch.stack([one["down"] for one in in_order])
    return found


_QWEN = {
    "Qwen3NextAttention": _gated_attention,
    "Qwen3NextGatedDeltaNet": _gated_delta_net,
    "Qwen3_5Attention": _gated_attention,
    "Qwen3_5GatedDeltaNet": _gated_delta_net,
    "Qwen3_5MoeAttention": _gated_attention,
    "Qwen3_5MoeGatedDeltaNet": _gated_delta_net,
}

FAMILIES: tuple[Family, ...] = (
    Family(model_types=("qwen3_next",), counts=_QWEN, length=_LENGTH),
    # With a vision tower: experts are stacked, as in the releases.
    Family(model_types=("qwen3_5", "qwen3_5_moe"), counts=_QWEN, to_file=_stacked, length=_LENGTH),
    # The language model alone, under the names that it has beside a vision tower; experts are one tensor each.
    Family(
        model_types=("qwen3_5_text", "qwen3_5_moe_text"),
        counts=_QWEN,
        renames=((r"^model\.", "model.language_model."),),
        back=((r"^model\.language_model\.", "model."),),
        length=_LENGTH,
    ),
    # The dense layer is `mlp`, as in memory; all others are `block_sparse_moe`.
    Family(
        model_types=("kimi_linear",),
        counts={"KimiLinearDeltaAttention": _delta_attention},
        renames=((r"\.block_sparse_moe\.(gate|up|down)_proj\.", r".mlp.\1_proj."),),
        length=_LENGTH,
    ),
)
