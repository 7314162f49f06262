"""Copying one rank's part of a full tensor: one `copy_` for each rectangle, zeros only where padding is."""

from __future__ import annotations

import torch

from shardc.runtime.dtypes import TORCH_DTYPES
from shardc.runtime.rectangles import Rectangle, copy_rectangles
from shardc.runtime.shards import Shard


def copy_shard(shard: Shard, full: torch.Tensor, device: torch.device | str) -> torch.Tensor:
    """A new tensor of the shard's local shape and dtype, filled from `full`, which has the shape of the file.

    It is all that is allocated on the device. A copy to part of each row there would take a buffer of that size, so a
    tensor made of such parts is put together where `full` is, and copied whole.
    """
    dtype = TORCH_DTYPES[shard.local_dtype]
    if shard.values is not None:
        return torch.tensor(shard.values, dtype=dtype, device=device).expand(shard.local_shape).clone()
    local = torch.empty(shard.local_shape, dtype=dtype, device=device)
    copies = list(copy_rectangles(shard.at))
    crosses = local.device != full.device and not all(view(local, place).is_contiguous() for _, place in copies)
    filled = torch.empty_like(local, device=full.device) if crosses else local
    with torch.no_grad():
        for rectangle in shard.zero_fill:
            view(filled, rectangle).zero_()
        for source, place in copies:
            view(filled, place).copy_(view(full, source))
    return local.copy_(filled) if crosses else local


def view(tensor: torch.Tensor, rectangle: Rectangle) -> torch.Tensor:
    """A rectangle of a tensor, without a copy."""
    return tensor[tuple(slice(start, stop) for start, stop in rectangle)]
