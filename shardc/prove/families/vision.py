"""Models that take pictures: Gemma 3 and 4, Llama 4 and Qwen3-VL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from shardc.prove.family import Family, Tensors

_COLOURS = 3
_SEED = 22


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


def _noise(*shape: int) -> torch.Tensor:
    return torch.rand(shape, generator=torch.Generator().manual_seed(_SEED))


def _picture(config: Any, ids: torch.Tensor) -> Tensors:
    """One picture a row: [batch, colours, size, size]."""
    size = config.vision_config.image_size
    return {"pixel_values": _noise(len(ids), _COLOURS, size, size)}


def _shuffled(config: Any) -> int:
    """Llama 4: patches, as many of which are laid side by side as the shuffle says."""
    vision = config.vision_config
    return int((vision.image_size // vision.patch_size * vision.pixel_shuffle_ratio) ** 2)


def _soft_tokens(config: Any) -> int:
    """Gemma 4: a picture of 4 by 2 pools of patches."""
    return 8


def _patches(config: Any, ids: torch.Tensor) -> Tensors:
    """Gemma 4: each picture's patches [batch, patches, pixels], and their places [batch, patches, 2] as x and y."""
    vision = config.vision_config
    wide, high = 4 * vision.pooling_kernel_size, 2 * vision.pooling_kernel_size
    places = torch.stack([torch.arange(wide).repeat(high), torch.arange(high).repeat_interleave(wide)], dim=-1)
    return {
        "pixel_values": _noise(len(ids), wide * high, _COLOURS * vision.patch_size**2),
        "image_position_ids": places.expand(len(ids), -1, -1),
    }


def _merged(config: Any) -> int:
    """Qwen3-VL: a picture of 3 by 2 merged patches."""
    return 6


def _patch_rows(config: Any, ids: torch.Tensor) -> Tensors:
    """Qwen3-VL: all pictures' patches [patches, pixels], and of each picture their numbers over time, down and across.

    A patch is `temporal_patch_size` frames deep; positions of tokens follow from which of them are of a picture.
    """
    vision = config.vision_config
    grid = (1, 2 * vision.spatial_merge_size, 3 * vision.spatial_merge_size)
    pixels = vision.in_channels * vision.temporal_patch_size * vision.patch_size**2
    return {
        "pixel_values": _noise(len(ids) * grid[1] * grid[2], pixels),
        "image_grid_thw": torch.tensor([grid] * len(ids)),
        "mm_token_type_ids": (ids == config.image_token_id).int(),
    }


FAMILIES: tuple[Family, ...] = (
    Family(
        model_types=("gemma3",),
        renames=((r"^vision_tower\.", "vision_tower.vision_model."),),
        back=((r"^vision_tower\.vision_model\.", "vision_tower."),),
        places=lambda config: int(config.mm_tokens_per_image),
        pictures=_picture,
    ),
    Family(
        model_types=("gemma4",),
        places=_soft_tokens,
        pictures=_patches,
    ),
    Family(
        model_types=("llama4",),
        places=_shuffled,
        pictures=_picture,
        mend=_without_images,
    ),
    Family(
        model_types=("qwen3_vl_moe",),
        to_file=_experts_in_out,
        places=_merged,
        pictures=_patch_rows,
    ),
)
