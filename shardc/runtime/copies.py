"""Copying one rank's part of a full tensor: one `copy_` for each rectangle, zeros only where padding is."""

from __future__ import annotations

import torch

from shardc.runtime.dtypes import TORCH_DTYPES
from shardc.runtime.rectangles import Rectangle, copy_rectangles
from shardc.runtime.shards import Shard


def copy_shard(shard: Shard, full: torch.Tensor, device: torch.device | str) -> torch.Tensor:
    """A new tensor of the shard's local shape and dtype, filled from `full`, which has the shape of the file."""
    dtype = TORCH_DTYPES[shard.local_dtype]
    if shard.values is not None:
        return torch.tensor(shard.values, dtype=dtype, device=device).expand(shard.local_shape).clone()
    local = torch.empty(shard.local_shape, dtype=dtype, device=device)
    with torch.no_grad():
        for rectangle in shard.zero_fill:
            view(local, rectangle).zero_()
        for source, place in copy_rectangles(shard.at):
            view(local, place).copy_(view(full, source))
    return local


def view(tensor: torch.Tensor, rectangle: Rectangle) -> torch.Tensor:
    """A rectangle of a tensor, without a copy."""
    return tensor[tuple(slice(start, stop) for start, stop in rectangle)]
