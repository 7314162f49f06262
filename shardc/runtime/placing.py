"""The part of a local tensor that one shard fills: all of it, or its place in an output."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from shardc.runtime.buffers import Buffer, Places
from shardc.runtime.copies import copies_of, zeros_of
from shardc.runtime.moves import Move
from shardc.runtime.regions import Spans
from shardc.runtime.shards import Layout, Shard
from shardc.runtime.strides import Block, Copy, Zeros, row_major


class Placing(NamedTuple):
    """Which part of a local tensor of `shape` is filled: element `element` of its first dim, or all of it.

    dim: the dim of the shard along which its rows make these moves; without moves it goes where it is. With moves and
    no dim it is a scalar, which goes to the row that its move says, or is all there is.
    """

    shape: tuple[int, ...]
    element: int | None = None
    dim: int | None = None
    moves: tuple[Move, ...] | None = None


class Fill(NamedTuple):
    """A shard, and the local tensor that it fills."""

    shard: Shard
    buffer: Buffer
    placing: Placing


class Filling(NamedTuple):
    """What is copied from a full tensor into a local one, and what of it is zero; targets count from its start."""

    copies: tuple[Copy, ...]
    zeros: tuple[Zeros, ...]


def fills_of(shards: Iterable[Shard], places: Places) -> list[Fill]:
    """What each shard fills: an output where it has a place, or a tensor of its own."""
    fills = []
    for shard in shards:
        name, layout = shard
        place = places.get(name)
        if place:
            fills.append(Fill(shard, place.buffer, Placing(place.buffer.shape, *place[1:])))
        else:
            own = Buffer(name, layout.local_dtype, layout.local_shape)
            fills.append(Fill(shard, own, placing_of(layout)))
    return fills


@lru_cache(maxsize=4096)
def placing_of(layout: Layout) -> Placing:
    """Where a shard goes that has no place in an output: all of a tensor of its own."""
    return Placing(layout.local_shape)


@lru_cache(maxsize=4096)
def filling(at: tuple[Spans, ...], source_strides: tuple[int, ...], placing: Placing) -> Filling:
    """The copies and zeros of a shard whose full tensor has these strides, in elements."""
    shape, element, dim, moves = placing
    start, strides = 0, row_major(shape)
    if element is not None:
        start, strides = element * strides[0], strides[1:]
    if moves is not None and dim is None:
        row = moves[0].place * strides[0] if strides else 0
        return Filling((Copy((1,), Block(0, (1,)), Block(start + row, (1,))),), ())
    copies, zeros = copies_of(at, source_strides, strides, dim, moves), zeros_of(at, strides, dim, moves)
    return Filling(
        tuple(copy._replace(target=further(copy.target, start)) for copy in copies),
        tuple(zero._replace(target=further(zero.target, start)) for zero in zeros),
    )


@lru_cache(maxsize=4096)
def filling_of(layout: Layout, placing: Placing) -> Filling:
    """The copies and zeros of a shard of this layout whose full tensor is contiguous, as in a file."""
    return filling(layout.at, row_major(layout.shape), placing)


def further(block: Block, elements: int) -> Block:
    """The same block, so many elements later."""
    return Block(block.offset + elements, block.strides)
