"""GLM-5.3-Flash: delta attention, sparse latent attention, hyper-connections."""

from __future__ import annotations

from typing import Any

from shardc.prove.family import Family, rows


def _delta_attention(module: Any) -> None:
    """q_proj, k_proj and v_proj are [channels, hidden] each; conv1d.weight is [3 * channels, 1, kernel]."""
    module.qkv_dim = rows(module.q_proj)
    module.conv_dim = rows(module.conv1d)
    module.num_heads = module.qkv_dim // module.head_dim


def _forget_gate(module: Any) -> None:
    """A_log is [heads], f_b_proj.weight [heads * head_dim, head_dim]."""
    module.num_heads = module.A_log.shape[0]
    module.qkv_dim = rows(module.f_b_proj)


FAMILIES = (
    Family(
        model_types=("glm5_next",),
        counts={"Glm5NextTextLinearAttention": _delta_attention, "Glm5NextTextForgetGate": _forget_gate},
        elsewhere=("model.visual.",),
        # More tokens than the 64 of a chunk, so that a state is carried from one chunk to the next.
        length=80,
    ),
)
