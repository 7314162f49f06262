"""Regions of all dims together: the rectangles that are copied, and the rectangles that are zeroed."""

from __future__ import annotations

from functools import lru_cache
from itertools import product

from shardc.runtime.regions import Spans, local_size, pads, pieces, whole_dim

Rectangle = tuple[tuple[int, int], ...]  # (start, stop) for each dim


@lru_cache(maxsize=4096)
def copy_rectangles(at: tuple[Spans, ...]) -> tuple[tuple[Rectangle, Rectangle], ...]:
    """(rectangle of the full tensor, its place in the local tensor), one pair for each product of the dims' regions."""
    pairs = []
    for runs in product(*map(pieces, at)):
        source = tuple((start, stop) for start, stop, _ in runs)
        place = tuple((to, to + stop - start) for start, stop, to in runs)
        pairs.append((source, place))
    return tuple(pairs)


@lru_cache(maxsize=4096)
def zero_rectangles(at: tuple[Spans, ...]) -> tuple[Rectangle, ...]:
    """The rectangles of the local tensor that nothing is copied to; they do not overlap.

    A zero run of one dim spans the dims after it in full, and of the dims before it only the real rows:
    what lies beyond those is zeroed by their own runs.
    """
    found: list[Rectangle] = []
    for dim, spans in enumerate(at):
        real = [[(to, to + stop - start) for start, stop, to in pieces(before)] for before in at[:dim]]
        full = [[(0, local_size(after))] if local_size(after) else [] for after in at[dim + 1 :]]
        found += product(*real, pads(spans), *full)
    return tuple(found)


def is_whole(at: tuple[Spans, ...], shape: tuple[int, ...]) -> bool:
    """True where the rank keeps the whole tensor, as it is."""
    return at == tuple(map(whole_dim, shape))
