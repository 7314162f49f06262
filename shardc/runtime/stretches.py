"""Rows of one dim that are copied or zeroed alike: where they are in the file, and where in the local tensor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from shardc.runtime.moves import Move
from shardc.runtime.regions import Spans, pieces


class Stretch(NamedTuple):
    """Row (i, j, …) of `sizes`: in the file start + i * steps[0] + …, in the local tensor place + i * to[0] + …."""

    sizes: tuple[int, ...]
    start: int
    steps: tuple[int, ...]
    place: int
    to: tuple[int, ...]


def stretches(spans: Spans, moves: tuple[Move, ...] | None = None) -> list[Stretch]:
    """All rows that a rank keeps of a dim; moves say where they go, and without them they go where they are."""
    found: list[Stretch] = []
    for start, stop, local in pieces(spans):
        found += moved(start, local, stop - start, moves)
    return found


def moved(start: int, local: int, rows: int, moves: tuple[Move, ...] | None) -> Iterator[Stretch]:
    """The local rows `local`, …, so many of them, that are the file's rows from `start`; a move takes whole blocks."""
    if moves is None:
        yield Stretch((rows,), start, (1,), local, (1,))
        return
    for move in moves:
        blocks = move.blocks(local, local + rows)
        first = move.first + blocks.start * move.pitch + start - local
        place = move.place + blocks.start * move.to_pitch
        if blocks:
            sizes = (len(blocks), *move.sizes)
            yield Stretch(sizes, first, (move.pitch, *move.strides), place, (move.to_pitch, *move.to))
