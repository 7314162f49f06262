"""Something that depends on the rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from shardc.plan.plan import Coords

Value = TypeVar("Value", covariant=True)


@dataclass(frozen=True)
class ByRank(Generic[Value]):
    """A value for each coordinate on the mesh dims `over`, the last fastest; one where it depends on none.

    `sizes` are those of `over`.
    """

    over: tuple[str, ...]
    sizes: tuple[int, ...]
    values: tuple[Value, ...]

    def at(self, rank: Coords) -> Value:
        index = 0
        for over, size in zip(self.over, self.sizes, strict=True):
            index = index * size + rank.get(over, 0)
        return self.values[index]
