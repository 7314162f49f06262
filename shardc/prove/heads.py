"""Arguments with an entry for each head of the whole model, such as ALiBi's: a rank takes those of its own heads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import nn

from shardc.prove.family import Family
from shardc.prove.task import Regions


def take_heads(model: Any, sources: Mapping[str, tuple[str, ...]], regions: Regions, family: Family) -> None:
    """Hooks on the modules that are given such arguments. Their heads are those that the plan's regions name."""
    for name, module in model.named_modules():
        per_head = family.per_head.get(type(module).__name__)
        if per_head is not None:
            columns = regions[sources[f"{name}.{per_head.weight}"][0]][1]
            _take(module, per_head.names, heads_of(columns, module.head_dim))


def heads_of(regions: Sequence[tuple[int, ...]], head_dim: int) -> list[int]:
    """The heads of which a rank keeps channels: regions of a dim of heads * head_dim."""
    channels = [channel for start, stop, *_ in regions for channel in range(start, stop)]
    return list(dict.fromkeys(channel // head_dim for channel in channels))


def _take(module: nn.Module, names: Sequence[str], heads: list[int]) -> None:
    def before(module: nn.Module, args: Any, kwargs: Any) -> Any:
        return args, {**kwargs, **{name: _of(kwargs[name], heads, args[0].shape[0]) for name in names}}

    module.register_forward_pre_hook(before, with_kwargs=True)


def _of(whole: torch.Tensor | None, heads: list[int], batch: int) -> torch.Tensor | None:
    """[batch * heads, ...] or [batch, heads, ...]; [batch, 1, ...] is the same for every head."""
    if whole is None or (whole.ndim == 4 and whole.shape[1] == 1):
        return whole
    if whole.ndim == 4:
        return whole[:, heads]
    return whole.reshape(batch, -1, *whole.shape[1:])[:, heads].flatten(0, 1)
