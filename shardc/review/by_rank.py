"""Something that depends on the rank."""

from __future__ import annotations

from typing import Generic, TypeVar

from msgspec import Struct

from shardc.plan.plan import Coords

Value = TypeVar("Value", covariant=True)


class ByRank(Struct, Generic[Value], frozen=True):
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
