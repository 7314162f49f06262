"""Tensors in blocks that follow one another in the file, and what of a rectangle lies in a block."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod

from shardc.runtime.rectangles import Rectangle

#: Bytes that are held of a tensor at a time, at most (where one element is no more).
BLOCK_BYTES = 64 << 20


def blocks(shape: tuple[int, ...], item_bytes: int, limit: int = BLOCK_BYTES) -> Iterator[Rectangle]:
    """Rectangles that tile a tensor in the order of its elements, each one run of at most `limit` bytes."""
    if prod(shape) == 0:
        return
    cut = next((dim for dim in range(len(shape)) if prod(shape[dim + 1 :]) * item_bytes <= limit), len(shape))
    if cut == len(shape):
        yield tuple((0, size) for size in shape)
        return
    step = max(limit // (prod(shape[cut + 1 :]) * item_bytes), 1)
    behind = tuple((0, size) for size in shape[cut + 1 :])
    for before in product(*map(range, shape[:cut])):
        for start in range(0, shape[cut], step):
            yield (*((at, at + 1) for at in before), (start, min(start + step, shape[cut])), *behind)


def overlap(one: Rectangle, other: Rectangle) -> Rectangle | None:
    """What lies in both; None where nothing does."""
    both = tuple((max(a, c), min(b, d)) for (a, b), (c, d) in zip(one, other, strict=True))
    return both if all(start < stop for start, stop in both) else None


def moved(part: Rectangle, origin: Rectangle, to: Rectangle) -> Rectangle:
    """A part of `origin`, where `origin` is put at `to`."""
    return tuple(
        (start - before + after, stop - before + after)
        for (start, stop), (before, _), (after, _) in zip(part, origin, to, strict=True)
    )


def shape_of(rectangle: Rectangle) -> tuple[int, ...]:
    """Its sizes."""
    return tuple(stop - start for start, stop in rectangle)


def whole(shape: tuple[int, ...]) -> Rectangle:
    """The rectangle of a whole tensor."""
    return tuple((0, size) for size in shape)
