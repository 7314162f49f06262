"""Mamba 2, Nemotron-H and Falcon-H1: state spaces."""

from __future__ import annotations

from typing import Any

import torch

from shardc.prove.family import Family


def _mixer(module: Any) -> None:
    """Heads as A_log has them, channels as out_proj takes them; beside those the convolution has B and C of groups."""
    module.num_heads = module.A_log.shape[0]
    module.intermediate_size = module.out_proj.weight.shape[1]
    module.conv_dim = module.conv1d.weight.shape[0]
    module.n_groups = (module.conv_dim - module.intermediate_size) // (2 * module.ssm_state_size)
    module.norm.n_groups = module.n_groups
    module.norm.group_size = module.intermediate_size // module.n_groups


def _scaled_mixer(module: Any) -> None:
    """A mixer that multiplies each of z, x, B, C and dt of its projection by a number of its own."""
    before = _segments(module)
    scales = [part[..., :1] for part in module.mup_vector.split(before, dim=-1)]
    _mixer(module)
    after = _segments(module)
    module.mup_vector = torch.cat([one.expand(1, 1, width) for one, width in zip(scales, after, strict=True)], dim=-1)


def _segments(module: Any) -> list[int]:
    states = module.n_groups * module.ssm_state_size
    return [module.intermediate_size, module.intermediate_size, states, states, module.num_heads]


def _gated(module: Any, hidden: torch.Tensor, gate: torch.Tensor) -> torch.Tensor:
    return hidden * torch.nn.functional.silu(gate)


def _gated_before(module: Any, hidden: torch.Tensor, gate: torch.Tensor) -> torch.Tensor:
    return hidden if module.norm_before_gate else _gated(module, hidden, gate)


FAMILIES = (
    Family(
        model_types=("mamba2",),
        counts={"Mamba2Mixer": _mixer},
        reduced={"MambaRMSNormGated": _gated},
    ),
    Family(
        model_types=("nemotron_h",),
        counts={"NemotronHMamba2Mixer": _mixer},
        reduced={"NemotronHRMSNormGated": _gated},
    ),
    Family(
        model_types=("falcon_h1",),
        counts={"FalconH1Mixer": _scaled_mixer},
        reduced={"FalconH1RMSNormGated": _gated_before},
    ),
)
