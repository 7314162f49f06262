"""Where the local rows of a tensor go in an output: blocks of rows at a pitch, each block strided inside."""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple

from shardc.runtime.arithmetic import ceil_div
from shardc.runtime.errors import ShardError
from shardc.runtime.outputs import Granules, Turn


class Move(NamedTuple):
    """Row (i, j, …) of `sizes` of block b: local row first + b * pitch + i * strides[0] + …; in the output row
    place + b * to_pitch + i * to[0] + ….
    """

    first: int
    place: int
    number: int
    pitch: int = 1
    to_pitch: int = 1
    sizes: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    to: tuple[int, ...] = ()

    def blocks(self, low: int, high: int) -> range:
        """The blocks that lie in the local rows low .. high."""
        if self.pitch == 0:
            return range(0)
        return range(
            max(ceil_div(low - self.first, self.pitch), 0), min(ceil_div(high - self.first, self.pitch), self.number)
        )


def rows_kept(rows: int, place: int) -> tuple[Move, ...]:
    """All local rows as they are, from row `place` of the output."""
    return (Move(0, place, rows),)


def rows_interleaved(rows: list[int], elements: int) -> list[tuple[Move, ...]]:
    """The moves of each member; `rows` are the members' local rows, those of one element next to each other."""
    each = [count // elements for count in rows]
    places = list(accumulate(each, initial=0))
    return [
        (Move(0, place, elements, count, places[-1], (count,), (1,), (1,)),)
        for count, place in zip(each, places, strict=False)
    ]


def rows_turned(granules: tuple[Granules, ...], unit: int, place: int) -> tuple[Move, ...]:
    """The rows of a permuted member, `unit` of them as one, from row `place` of the output. Raises SHD212."""
    moves: list[Move] = []
    at = 0
    for number, size, turns in granules:
        if not turns:
            moves.append(Move(at, place + at, in_units(number * size, unit)))
            at += in_units(number * size, unit)
            continue
        rows = in_units(size, unit)
        for turn in (turn_in_units(turn, unit) for turn in turns):
            place_in = place + at + turn.place
            moves.append(Move(at + turn.start, place_in, number, rows, rows, turn.sizes, turn.strides, turn.to))
        at += number * rows
    return tuple(moves)


def turn_in_units(turn: Turn, unit: int) -> Turn:
    """The turn with `unit` rows as one. Raises SHD212 where rows of one unit part."""
    if unit == 1:
        return turn
    if (turn.strides[-1], turn.to[-1]) != (1, 1):
        in_units(1, unit)
    together = in_units(turn.sizes[-1], unit)
    strides, to = ([*(in_units(step, unit) for step in steps[:-1]), 1] for steps in (turn.strides, turn.to))
    start, place = in_units(turn.start, unit), in_units(turn.place, unit)
    return Turn((*turn.sizes[:-1], together), tuple(strides), tuple(to), start, place)


def in_units(rows: int, unit: int) -> int:
    """`rows` in units. Raises SHD212."""
    if rows % unit:
        raise ShardError(("SHD212", f"rows are permuted {rows} at a time, inside a unit of {unit}"))
    return rows // unit
