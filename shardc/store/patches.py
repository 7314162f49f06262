"""Tensors that are yet to be written: of which parts of which files they are made."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from shardc.runtime.dtypes import nbytes
from shardc.runtime.headers import Header
from shardc.runtime.rectangles import Rectangle, copy_rectangles
from shardc.runtime.regions import Spans
from shardc.store.blocks import moved, overlap


class Patch(NamedTuple):
    """`source`, a rectangle of a file's tensor, is at `to` in the tensor that is made.

    folder: of the rank that it is from, if it is from one.
    """

    header: Header
    source: Rectangle
    to: Rectangle
    folder: str = ""


class Content(NamedTuple):
    """A tensor to write. What no patch covers is zero; replicas say the same as patches do.

    given: its bytes, where they are known already.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    patches: tuple[Patch, ...] = ()
    replicas: tuple[Patch, ...] = ()
    given: bytes | memoryview | None = None

    @property
    def nbytes(self) -> int:
        """Bytes in the file."""
        return nbytes(self.dtype, self.shape)


def cut_patches(full: Iterable[Patch], at: tuple[Spans, ...]) -> Iterator[Patch]:
    """The patches of a rank's part of a tensor, whose own are `full`; `at` are the regions of each dim.

    In each dim two patches of `full` have the same rows, or none in common.
    """
    patches = list(full)
    starts = [{patch.to[dim][0] for patch in patches} for dim in range(len(at))]
    dim = max(range(len(at)), key=lambda dim: len(starts[dim]), default=None)
    if dim is not None:
        patches.sort(key=lambda patch: patch.to[dim])
    firsts = [patch.to[dim][0] if dim is not None else 0 for patch in patches]
    lasts = [patch.to[dim][1] if dim is not None else 1 for patch in patches]
    for region, local in copy_rectangles(at):
        start, stop = region[dim] if dim is not None else (0, 1)
        for patch in patches[bisect_right(lasts, start) : bisect_left(firsts, stop)]:
            both = overlap(region, patch.to)
            if both is not None:
                source = moved(both, patch.to, patch.source)
                yield Patch(patch.header, source, moved(both, region, local), patch.folder)


def in_block(patch: Patch, block: Rectangle) -> Patch | None:
    """What of a patch lies in a block, at its place in the block; None where nothing does."""
    both = overlap(patch.to, block)
    if both is None:
        return None
    start = tuple((0, stop - begin) for begin, stop in block)
    return Patch(patch.header, moved(both, patch.to, patch.source), moved(both, block, start), patch.folder)
