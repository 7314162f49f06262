"""A logical axis (heads, experts, vocabulary) and the part of it that one rank keeps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shardc.runtime.errors import ShardError


@dataclass(frozen=True, slots=True)
class Axis:
    """This rank keeps the elements [start, stop) of `size`, and `pad` zero elements after them.

    step, block: of every `step` of these elements it keeps the first `block`; all, unless they are dealt round robin.
    dim, rank, ranks: the mesh dim that splits the axis, and this rank's coordinate on it.
    granule: elements that may not be cut apart.
    replicas: ranks that keep these same elements.
    sub: this rank's position among them, where axes within this one are dealt to them; None where they are not.
    """

    name: str
    size: int
    start: int
    stop: int
    pad: int = 0
    dim: str = "tp"
    rank: int = 0
    ranks: int = 1
    granule: int = 1
    replicas: int = 1
    sub: int | None = None
    step: int = 1
    block: int = 1

    @property
    def local(self) -> int:
        """Elements that this rank keeps, padding included."""
        steps, rest = divmod(self.stop - self.start, self.step)
        return steps * self.block + min(rest, self.block) + self.pad

    @property
    def runs(self) -> list[tuple[int, int]]:
        """The elements that this rank keeps as (start, stop): one run, and round robin one for each granule."""
        if self.step == self.block:
            return [(self.start, self.stop)]
        return [(at, min(at + self.block, self.stop)) for at in range(self.start, self.stop, self.step)]

    def position(self, element: int) -> int:
        """Where an element that this rank keeps stands among those it keeps."""
        steps, rest = divmod(element - self.start, self.step)
        return steps * self.block + rest

    def elements(self, start: int = 0, stop: int | None = None) -> Iterator[int]:
        """The elements that this rank keeps, in order: those in [start, stop), of the whole axis if not given.

        Raises SHD112 where `stop` lies past the axis.
        """
        if stop is not None and stop > self.size:
            raise ShardError(("SHD112", f"{stop} is past the {self.size} {self.name}"))
        for first, last in self.runs:
            yield from range(max(first, start), min(last, self.size if stop is None else stop))
