"""Ranks merged back to the whole checkpoint, from their plans alone.

Written without the runtime's own copying code: what is wrong there does not cancel out here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Protocol

import torch

Slices = tuple[slice, ...]


class Shard(Protocol):
    """What a plan says of one tensor: full shape, and for each dim its regions (start, stop, zero rows after it)."""

    @property
    def name(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def at(self) -> tuple[tuple[tuple[int, int, int], ...], ...]: ...


@dataclass(frozen=True)
class Rank:
    """One rank: its plan, and the local tensors it loaded by name."""

    shards: Sequence[Shard]
    tensors: dict[str, torch.Tensor]


def merge(ranks: Sequence[Rank]) -> dict[str, torch.Tensor]:
    """Every tensor at its full shape, each element from a rank that holds it; ones that no rank holds are zero."""
    merged: dict[str, torch.Tensor] = {}
    for rank in ranks:
        for shard in rank.shards:
            local = rank.tensors[shard.name]
            full = merged.setdefault(shard.name, torch.zeros(shard.shape, dtype=local.dtype))
            for in_full, in_local in pieces(shard):
                full[in_full] = local[in_local]
    return merged


def strays(rank: Rank, merged: dict[str, torch.Tensor]) -> list[str]:
    """Names of the tensors of which this rank holds other bytes than the merged checkpoint: replicas that differ."""
    return [
        shard.name
        for shard in rank.shards
        for in_full, in_local in pieces(shard)
        if not same_bytes(merged[shard.name][in_full], rank.tensors[shard.name][in_local])
    ]


def pieces(shard: Shard) -> Iterator[tuple[Slices, Slices]]:
    """(place in the full tensor, place in the local one) of each piece: one for each product of the dims' regions."""
    for runs in product(*map(dim_pieces, shard.at)):
        yield tuple(full for full, _ in runs), tuple(local for _, local in runs)


def dim_pieces(regions: Sequence[tuple[int, int, int]]) -> list[tuple[slice, slice]]:
    """(rows of the full dim, rows of the local dim) of each region; zero rows belong to neither."""
    found = []
    local = 0
    for start, stop, zeros in regions:
        size = stop - start
        found.append((slice(start, stop), slice(local, local + size)))
        local += size + zeros
    return found


def same_bytes(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Same dtype, shape and bytes; NaNs are equal to themselves here."""
    if (one.dtype, one.shape) != (other.dtype, other.shape):
        return False
    return torch.equal(one.reshape(-1).contiguous().view(torch.uint8), other.reshape(-1).contiguous().view(torch.uint8))
