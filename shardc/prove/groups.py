"""Process groups: for each mesh dim, the ranks that differ in it alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
import torch.distributed as dist
from msgspec import Struct

from shardc.prove.task import Coords


class Line(Struct, frozen=True):
    """The ranks of one mesh dim, in its order, of which this is one."""

    group: dist.ProcessGroup
    size: int

    def sum(self, tensor: torch.Tensor) -> torch.Tensor:
        """The sum over the ranks; all give the same shape."""
        total = tensor.contiguous().clone()
        dist.all_reduce(total, group=self.group)
        return total

    def concatenate(self, tensor: torch.Tensor) -> torch.Tensor:
        """The ranks' tensors along the last dim, in the order of the ranks; they may differ in it."""
        widths = [torch.zeros(1, dtype=torch.int64) for _ in range(self.size)]
        dist.all_gather(widths, torch.tensor([tensor.shape[-1]]), group=self.group)
        widest = max(int(width) for width in widths)
        padded = torch.nn.functional.pad(tensor, (0, widest - tensor.shape[-1])).contiguous()
        parts = [torch.empty_like(padded) for _ in widths]
        dist.all_gather(parts, padded, group=self.group)
        return torch.cat([part[..., : int(width)] for part, width in zip(parts, widths, strict=True)], dim=-1)


def lines(mesh: Mapping[str, int], ranks: Sequence[Coords], here: int) -> dict[str, Line]:
    """This rank's line on each mesh dim. Every rank makes all of them, in one order, as torch.distributed wants it."""
    found: dict[str, Line] = {}
    for dim, size in mesh.items():
        apart: dict[tuple[int, ...], list[int]] = {}
        for rank, coords in enumerate(ranks):
            apart.setdefault(tuple(coords[other] for other in mesh if other != dim), []).append(rank)
        for members in apart.values():
            group = dist.new_group(sorted(members, key=lambda rank: ranks[rank][dim]))
            if here in members:
                found[dim] = Line(group, size)
    return found
