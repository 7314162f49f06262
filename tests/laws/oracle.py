"""The laws by brute force: row by row, from the meaning of a layout alone. Nothing here knows of regions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import TypeAlias

from shardc.layout.expr import Binary, Cat, Expr, Name, Num, Per, names
from shardc.layout.regions import Regions
from shardc.layout.share import Share
from shardc.layout.split import Split

#: For each mesh dim that a row belongs to: the axis that owns it there, and the element of that axis.
Owners: TypeAlias = Mapping[str, tuple[str, int]]


@dataclass(frozen=True)
class Oracle:
    """Every axis, dealt, and the sizes of the mesh dims."""

    splits: Mapping[str, Split]
    mesh: Mapping[str, int]

    def owners(self, layout: Expr, around: Owners | None = None) -> Iterator[Owners]:
        """Who owns each row of a dim, in the file's order."""
        around = around or {}
        match layout:
            case Num(size):
                yield from [around] * size
            case Name(axis):
                over = self.splits[axis].over
                for element in range(self.splits[axis].size):
                    yield {**around, over: (axis, element)}
            case Per(child, parent):
                split = self.splits[child]
                owner, element = around[split.over]
                assert owner == parent
                for within in range(split.group):
                    yield {**around, split.over: (child, element * split.group + within)}
            case Cat(parts):
                for part in parts:
                    yield from self.owners(part, around)
            case Binary("*", left, right):
                for outer in self.owners(left, around):
                    yield from self.owners(right, outer)
            case _:
                raise AssertionError(layout)

    def mesh_dims(self, layout: Expr) -> set[str]:
        """The mesh dims that cut a dim."""
        return {self.splits[name].over for name in names(layout) if name in self.splits}

    def kept(self, owners: Owners, rank: Mapping[str, int]) -> bool:
        """Whether a rank keeps the row: it keeps the owning element on every mesh dim."""
        shares = [(self.splits[axis].shares[rank[over]], element) for over, (axis, element) in owners.items()]
        return all(element in held(share) for share, element in shares)

    def copies(self, owners: Owners, dims: set[str]) -> int:
        """How many ranks of the mesh dims `dims` hold the row: the declared replicas, and all ranks where none cuts."""
        return prod(self.splits[owners[over][0]].replicas if over in owners else self.mesh[over] for over in dims)

    def local(self, layout: Expr, rank: Mapping[str, int], current: Mapping[str, int | None] | None = None) -> int:
        """Rows of a dim on a rank, zero fill included; a padding element is as large as a whole one."""
        current = current or {}
        match layout:
            case Num(size):
                return size
            case Name(axis):
                return self.splits[axis].shares[rank[self.splits[axis].over]].local
            case Per(child, parent):
                split = self.splits[child]
                index = current[parent]
                share = split.shares[rank[split.over]]
                group = range(index * split.group, (index + 1) * split.group) if index is not None else None
                return split.group if group is None else len(held(share) & set(group))
            case Cat(parts):
                return sum(self.local(part, rank, current) for part in parts)
            case Binary("*", Name(axis), right):
                share = self.splits[axis].shares[rank[self.splits[axis].over]]
                here = [*sorted(held(share)), *[None] * share.pad]
                return sum(self.local(right, rank, {**current, axis: index}) for index in here)
            case Binary("*", left, right):
                return self.local(left, rank, current) * self.local(right, rank, current)
        raise AssertionError(layout)


@cache
def held(share: Share) -> set[int]:
    """The elements of the file that a rank has of an axis: of [start, stop) the first `block` of every `step`."""
    turns = range(share.start, share.stop, share.step)
    return {turn + i for turn in turns for i in range(share.block) if turn + i < share.stop}


def rows(regions: Regions) -> list[int | None]:
    """The file's row of each local row; None for zero fill."""
    return [row for start, stop, pad in regions for row in [*range(start, stop), *[None] * pad]]
