"""The zero-filled part of a local tensor, as rectangles: with the copied pieces they tile it exactly."""

from __future__ import annotations

import itertools

from shardc.layout.regions import Regions, local_size

#: (start, stop) of each dim of the local tensor.
Rectangle = tuple[tuple[int, int], ...]


def zero_fill(at: tuple[Regions, ...]) -> list[Rectangle]:
    """Padding of dim d, over the real rows of the dims before d and all rows of the dims after it."""
    out: list[Rectangle] = []
    for d, regions in enumerate(at):
        before = [real_rows(r) for r in at[:d]]
        after = [[(0, local_size(r))] for r in at[d + 1 :]]
        out += itertools.product(*before, zero_rows(regions), *after)
    return out


def real_rows(regions: Regions) -> list[tuple[int, int]]:
    """Where a dim's regions lie in the local tensor."""
    out, at = [], 0
    for start, stop, pad in regions:
        if stop > start:
            out.append((at, at + stop - start))
        at += stop - start + pad
    return out


def zero_rows(regions: Regions) -> list[tuple[int, int]]:
    """Where a dim's padding lies in the local tensor."""
    out, at = [], 0
    for start, stop, pad in regions:
        at += stop - start
        if pad:
            out.append((at, at + pad))
        at += pad
    return out
