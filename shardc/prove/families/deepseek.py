"""DeepSeek and GLM-5: latent attention.

DeepSeek-V2 to V3.2 and GLM-5 need nothing: their heads follow from what they view, and transformers writes their
published names.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import torch

from shardc.prove.family import Family, rows


def _grouped_output(attention: Any) -> None:
    """Query heads of DeepSeek-V4 share one kv head. Output groups: the rank's head channels by those of a group."""
    groups = rows(attention.q_b_proj) // attention.o_a_proj.weight.shape[1]
    attention.num_key_value_groups = rows(attention.q_b_proj) // rows(attention.kv_proj)
    attention.o_a_proj.n_groups = groups
    attention.config = copy(attention.config)
    attention.config.o_groups = groups


def _any_experts(router: Any) -> None:
    """tid2eid [vocab, experts of a token]: for each token, experts that differ from each other."""
    vocab, chosen = router.tid2eid.shape
    router.tid2eid = torch.rand(vocab, router.num_experts).argsort(-1)[:, :chosen].contiguous()


FAMILIES = (
    Family(
        model_types=("deepseek_v4",),
        counts={"DeepseekV4Attention": _grouped_output},
        tables={"DeepseekV4HashRouter": _any_experts},
        renames=(
            (r"^model\.embed_tokens\.", "embed."),
            (r"^model\.hc_head\.hc_", "hc_head_"),
            (r"^model\.(layers\.\d+\.attn)\.norm\.", r"\1.kv_norm."),
            (r"^model\.", ""),
        ),
        # Two windows of 128 tokens, each compressed into one entry, and a rest.
        length=260,
    ),
)
