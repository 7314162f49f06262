"""The copies and the zeros that make one shard's part of a local tensor: one copy for each product of regions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

from shardc.runtime.moves import Move
from shardc.runtime.rectangles import zero_rectangles
from shardc.runtime.regions import Spans
from shardc.runtime.stretches import Stretch, moved, stretches
from shardc.runtime.strides import Block, Copy, Zeros, collapsed

Moves = tuple[Move, ...]


def copies_of(
    at: tuple[Spans, ...],
    source_strides: tuple[int, ...],
    target_strides: tuple[int, ...],
    dim: int | None = None,
    moves: Moves | None = None,
) -> tuple[Copy, ...]:
    """The copies of a shard, in as few dims as they can have; strides are those of the tensors on both sides.

    at: the spans of each dim. The rows of `dim` make `moves`; without it all rows go where they are.
    """
    by_dim = [stretches(spans, moves if each == dim else None) for each, spans in enumerate(at)]
    return tuple(collapsed(copy_of(one, source_strides, target_strides)) for one in product(*by_dim))


def zeros_of(
    at: tuple[Spans, ...], target_strides: tuple[int, ...], dim: int | None = None, moves: Moves | None = None
) -> tuple[Zeros, ...]:
    """The blocks of the local tensor that a shard leaves zero; with its copies they tile the shard's part exactly."""
    found: list[Zeros] = []
    for rectangle in zero_rectangles(at):
        by_dim = [
            list(moved(0, start, stop - start, moves if each == dim else None))
            for each, (start, stop) in enumerate(rectangle)
        ]
        for one in product(*by_dim):
            shape, _, target = copy_of(one, target_strides, target_strides)
            found.append(Zeros(shape, target))
    return tuple(found)


def copy_of(by_dim: Sequence[Stretch], source_strides: Iterable[int], target_strides: Iterable[int]) -> Copy:
    """One stretch of every dim: the block of rows that all of them have in common."""
    shape: list[int] = []
    steps: list[int] = []
    to: list[int] = []
    start = place = 0
    for stretch, source, target in zip(by_dim, source_strides, target_strides, strict=True):
        shape += stretch.sizes
        steps += (step * source for step in stretch.steps)
        to += (step * target for step in stretch.to)
        start += stretch.start * source
        place += stretch.place * target
    return Copy(tuple(shape), Block(start, tuple(steps)), Block(place, tuple(to)))
