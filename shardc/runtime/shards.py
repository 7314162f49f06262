"""One tensor of the file on one rank."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from shardc.runtime.dtypes import nbytes
from shardc.runtime.rectangles import is_whole
from shardc.runtime.regions import Spans, local_size


@dataclass(frozen=True)
class Layout:
    """How a rank keeps a tensor of the file; one object for all tensors of a family that are stored alike.

    kind: shard kind of the tensor, or of the weight that this is a part of; a scalar part is `replicated`.
    format: `dense`, or the format this is a part of.
    dtype, shape: as in the file. dtypes: the ones the file may have.
    load: dtype it is loaded as; None: as in the file.
    at: for each dim, the normalised regions that this rank keeps.
    optional: the file may lack it. tied_to: where the file lacks it, it is this tensor.
    values: what the local tensor holds, where that is the weight's local sizes and not read from the file.
    """

    kind: str
    format: str
    dtype: str
    dtypes: tuple[str, ...]
    load: str | None
    shape: tuple[int, ...]
    at: tuple[Spans, ...]
    optional: bool = False
    tied_to: str | None = None
    values: tuple[int, ...] | None = None

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        own = (self.kind, self.format, self.dtype, self.dtypes, self.load, self.shape, self.at)
        return hash((*own, self.optional, self.tied_to, self.values))

    @cached_property
    def local_shape(self) -> tuple[int, ...]:
        """Shape on this rank, padding included."""
        return tuple(map(local_size, self.at))

    @property
    def local_dtype(self) -> str:
        """dtype on this rank."""
        return self.load or self.dtype

    @property
    def full_bytes(self) -> int:
        """Bytes in the file."""
        return nbytes(self.dtype, self.shape)

    @cached_property
    def local_bytes(self) -> int:
        """Bytes on this rank, padding included."""
        return nbytes(self.local_dtype, self.local_shape)

    @property
    def whole(self) -> bool:
        """True where this rank keeps every element, in the file's order, and no padding."""
        return self.values is None and is_whole(self.at, self.shape)


class Shard(NamedTuple):
    """What a rank keeps of one tensor of the file."""

    name: str
    layout: Layout

    @property
    def kind(self) -> str:
        """Shard kind."""
        return self.layout.kind

    @property
    def format(self) -> str:
        """`dense`, or the format this is a part of."""
        return self.layout.format

    @property
    def dtype(self) -> str:
        """dtype in the file."""
        return self.layout.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape in the file."""
        return self.layout.shape

    @property
    def at(self) -> tuple[Spans, ...]:
        """For each dim, the normalised regions that this rank keeps."""
        return self.layout.at

    @property
    def values(self) -> tuple[int, ...] | None:
        """What the local tensor holds, where it is not read from the file."""
        return self.layout.values

    @property
    def local_shape(self) -> tuple[int, ...]:
        """Shape on this rank, padding included."""
        return self.layout.local_shape

    @property
    def local_dtype(self) -> str:
        """dtype on this rank."""
        return self.layout.local_dtype

    @property
    def full_bytes(self) -> int:
        """Bytes in the file."""
        return self.layout.full_bytes

    @property
    def local_bytes(self) -> int:
        """Bytes on this rank, padding included."""
        return self.layout.local_bytes
