"""One tensor of the file on one rank."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from shardc.runtime.dtypes import nbytes
from shardc.runtime.rectangles import Rectangle, is_whole, zero_rectangles
from shardc.runtime.regions import Spans, local_size


class Shard(NamedTuple):
    """What a rank keeps of one tensor of the file.

    kind: shard kind of the tensor, or of the weight that this is a part of; a scalar part is `replicated`.
    format: `dense`, or the format this is a part of.
    dtype, shape: as in the file. dtypes: the ones the file may have.
    load: dtype it is loaded as; None: as in the file.
    at: for each dim, the normalised regions that this rank keeps.
    optional: the file may lack it. tied_to: where the file lacks it, it is this tensor.
    values: what the local tensor holds, where that is the weight's local sizes and not read from the file.
    """

    name: str
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

    @property
    def local_shape(self) -> tuple[int, ...]:
        """Shape on this rank, padding included."""
        return local_shape_of(self.at)

    @property
    def local_dtype(self) -> str:
        """dtype on this rank."""
        return self.load or self.dtype

    @property
    def full_bytes(self) -> int:
        """Bytes in the file."""
        return nbytes(self.dtype, self.shape)

    @property
    def local_bytes(self) -> int:
        """Bytes on this rank, padding included."""
        return nbytes(self.local_dtype, self.local_shape)

    @property
    def whole(self) -> bool:
        """True where this rank keeps every element, in the file's order, and no padding."""
        return self.values is None and is_whole(self.at, self.shape)

    @property
    def zero_fill(self) -> tuple[Rectangle, ...]:
        """The rectangles of the local tensor that are zero; with the copies they tile it exactly."""
        return zero_rectangles(self.at)


@lru_cache(maxsize=4096)
def local_shape_of(at: tuple[Spans, ...]) -> tuple[int, ...]:
    """The local sizes of the dims whose spans these are."""
    return tuple(map(local_size, at))
