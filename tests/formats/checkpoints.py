"""A small model whose weights are all in one format, and checkpoints of it.

One weight is cut by its output (`up_proj`) and one by its input (`down_proj`): alone, with a tensor for each expert,
and, where the format is stored so, with the experts stacked.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import torch

from shardc.runtime.dtypes import TORCH_DTYPES
from tests.formats.variants import Variant
from tests.plan.support import spec

HIDDEN, INTER, EXPERTS = 256, 512, 4
SIZES = {"up_proj": (INTER, HIDDEN), "down_proj": (HIDDEN, INTER)}

_AXES = """\
config: {hidden: hidden, inter_size: inter, num_experts: experts}
axes:
  inter: {size: inter_size}
  experts: {size: num_experts, over: ep}
groups:
"""
_ALONE = """\
  alone:
    tensors:
      up_proj.weight: {shape: [inter, hidden], shard: column_parallel, formats: [F]}
      down_proj.weight: {shape: [hidden, inter], shard: row_parallel, formats: [F]}
"""
_EACH = """\
  each:
    at: experts.{expert}
    for: {expert: experts}
    tensors:
      up_proj.weight: {shape: [inter, hidden], shard: expert_slices + column_parallel, formats: [F]}
      down_proj.weight: {shape: [hidden, inter], shard: expert_slices + row_parallel, formats: [F]}
"""
_STACKED = """\
  stacked:
    at: stacked
    tensors:
      up_proj: {shape: [experts, inter, hidden], shard: expert_slices + column_parallel, formats: [F]}
      down_proj: {shape: [experts, hidden, inter], shard: expert_slices + row_parallel, formats: [F]}
"""


def text(variant: Variant) -> str:
    """The spec."""
    groups = _ALONE + _EACH + (_STACKED if variant.stacked else "")
    return spec(_AXES + groups.replace("[F]", f"[{variant.format}]"))


def config(variant: Variant) -> dict[str, Any]:
    return {"hidden": HIDDEN, "inter": INTER, "experts": EXPERTS, **variant.config}


def tensors(variant: Variant) -> dict[str, torch.Tensor]:
    """Every tensor of the file, its elements counting up."""
    found: dict[str, torch.Tensor] = {}
    for name, (out, inputs) in SIZES.items():
        for ending, (dtype, shape) in variant.files(out, inputs).items():
            stems = [name, *(f"experts.{expert}.{name}" for expert in range(EXPERTS))]
            found |= {stem + ending: counting(dtype, shape, start) for start, stem in enumerate(stems)}
            if variant.stacked:
                found[f"stacked.{name}{ending}"] = counting(dtype, (EXPERTS, *shape), 5)
            if ending == ".weight_shape":
                found |= {stem + ending: torch.tensor([out, inputs], dtype=TORCH_DTYPES[dtype]) for stem in stems}
    return found


def counting(dtype: str, shape: tuple[int, ...], start: int) -> torch.Tensor:
    """start, start + 1, … as the bits of the elements: 1 byte has room for 251 (a prime: rows still differ)."""
    size = TORCH_DTYPES[dtype].itemsize
    numbers = torch.arange(start, start + prod(shape))
    if size == 1:
        numbers = numbers % 251
    whole = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[size]
    return numbers.to(whole).view(TORCH_DTYPES[dtype]).reshape(shape)


def headers(found: Mapping[str, torch.Tensor]) -> dict[str, tuple[str, tuple[int, ...]]]:
    """The headers of a file that holds these."""
    names = {dtype: name for name, dtype in TORCH_DTYPES.items()}
    return {name: (names[tensor.dtype], tuple(tensor.shape)) for name, tensor in found.items()}
