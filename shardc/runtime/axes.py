"""A logical axis (heads, experts, vocabulary) and the part of it that one rank keeps."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Axis:
    """This rank keeps the elements [start, stop) of `size`, and `pad` zero elements after them.

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

    @property
    def local(self) -> int:
        """Elements that this rank keeps, padding included."""
        return self.stop - self.start + self.pad
