"""Tensors that are alike in everything but their names."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from msgspec import Struct

from shardc.layout.regions import Scope
from shardc.plan.resolved import Entry
from shardc.plan.stored import Stored


class Family(Struct, frozen=True, dict=True):
    """Tensors of one entry with one full shape, stored one way.

    `shape` is of the weight, unpacked, in elements. `over` has, for each dim, the mesh dims whose ranks keep different
    rows of it. `summed` is, of a `rank0` bias, the axis over whose ranks the output of its layer is summed.
    """

    entry: Entry
    env: Mapping[str, int]
    shape: tuple[int, ...]
    over: tuple[tuple[str, ...], ...]
    stored: Stored
    scope: Scope
    summed: str | None = None

    @cached_property
    def env_key(self) -> tuple[tuple[str, int], ...]:
        """The values of its indices, hashable."""
        return tuple(self.env.items())

    @property
    def names(self) -> tuple[str, ...]:
        return self.stored.family.names

    @property
    def selecting(self) -> tuple[str, ...]:
        """The axes that select names (experts)."""
        return tuple(self.stored.family.selecting)

    @property
    def elements(self) -> Mapping[str, tuple[int, ...]]:
        """For each axis that selects names, the element of each of them."""
        return self.stored.family.elements

    def role(self, dim: int) -> str | None:
        """`out`, `in`, or None for a leading dim."""
        return "out" if dim == self.entry.out_dim else "in" if dim == self.entry.in_dim else None
