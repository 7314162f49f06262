"""Decoders with separate q, k and v projections: Llama, Mistral, Qwen, Gemma and many more."""

from __future__ import annotations

from shardc.prove.family import Family, grouped_query

_ATTENTION = (
    "LlamaAttention",
    "MistralAttention",
    "SmolLM3Attention",
    "Qwen2Attention",
    "Qwen3Attention",
    "Qwen3MoeAttention",
    "MixtralAttention",
    "Olmo2Attention",
    "MiniMaxM2Attention",
)

FAMILIES = (
    Family(
        model_types=(
            "llama",
            "mistral",
            "smollm3",
            "qwen2",
            "qwen3",
            "qwen3_moe",
            "mixtral",
            "olmo2",
            "minimax_m2",
        ),
        counts=dict.fromkeys(_ATTENTION, grouped_query),
    ),
)
