"""Which rows of its members' local tensors an output has, in which order: runs of rows, repeated at a pitch."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from shardc.layout.errors import FormulaError
from shardc.layout.permutation import Run, Turn
from shardc.layout.regions import Regions, Scope, local_size, regions, size

#: Rows of one granule that a permutation may have: heads have some hundreds.
MAX_GRANULE = 4_096


class OutputError(Exception):
    """Why a rank can't build an output (SHD212 for a cut inside a unit, SHD230 for the rest)."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class Rows(Struct, frozen=True):
    """`count` runs of `size` rows, from `start`, one every `pitch` rows."""

    start: int
    size: int
    count: int = 1
    pitch: int = 0


class Move(Struct, frozen=True):
    """Rows of a local tensor, and the rows of the output that they become: as many runs of one size."""

    rows: Rows
    to: Rows


class Placed(Struct, frozen=True):
    """Rows of the output: what they are in the file's tensor, or None where they are zero."""

    source: Rows | None
    to: Rows


def kept(length: int, place: int) -> list[Move]:
    """All rows of a local tensor of `length` rows, as they are, from row `place` of the output."""
    return [Move(Rows(0, length), Rows(place, length))]


def interleaved(lengths: list[int], elements: int) -> list[list[Move]]:
    """For each of `elements`, its rows of each member; `lengths` are the members' local rows."""
    each = [length // elements for length in lengths]
    places = itertools.accumulate(each, initial=0)
    return [
        [Move(Rows(0, rows, elements, rows), Rows(place, rows, elements, sum(each)))]
        for rows, place in zip(each, places, strict=False)
    ]


def permuted(runs: tuple[Run, ...], scope: Scope, unit: int, place: int) -> list[Move]:
    """The rows of a local tensor of which `unit` are one row here, from row `place` of the output."""
    out: list[Move] = []
    at = 0
    for run, count in zip(runs, run_counts(runs, scope), strict=True):
        if not run.turns:
            out.append(Move(Rows(at, _units(count, unit)), Rows(place + at, _units(count, unit))))
            at += _units(count, unit)
            continue
        granule = size(run.size, scope)
        for source, start, length in _granule_runs(granule, tuple(_numbers(turn, scope) for turn in run.turns), unit):
            rows = _units(granule, unit)
            out.append(Move(Rows(at + source, length, count, rows), Rows(place + at + start, length, count, rows)))
        at += _units(granule, unit) * count
    return out


def run_counts(runs: tuple[Run, ...], scope: Scope) -> tuple[int, ...]:
    """How many granules of each run a rank has."""
    try:
        return tuple(local_size(regions(run.count, scope)) for run in runs)
    except FormulaError as error:
        raise OutputError(error.code, error.message) from None


class _Turn(Struct, frozen=True):
    """A turn in numbers."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    to: tuple[int, ...]
    start: int
    place: int


def _numbers(turn: Turn, scope: Scope) -> _Turn:
    sizes, strides, to = (tuple(size(expr, scope) for expr in exprs) for exprs in (turn.sizes, turn.strides, turn.to))
    return _Turn(sizes, strides, to, size(turn.start, scope), size(turn.place, scope))


@lru_cache(maxsize=256)
def _granule_runs(granule: int, turns: tuple[_Turn, ...], unit: int) -> tuple[tuple[int, int, int], ...]:
    """(row of the file's granule, row of the output's, rows) of all rows that stay next to each other; in units."""
    if granule > MAX_GRANULE:
        raise OutputError("SHD230", f"a granule of {granule} rows is permuted; at most {MAX_GRANULE} are")
    order = [-1] * _units(granule, unit)
    for turn in turns:
        sizes, strides, to = _in_units(turn, unit)
        for index in itertools.product(*map(range, sizes)):
            here = turn.start + sum(i * stride for i, stride in zip(index, strides, strict=True))
            there = turn.place + sum(i * step for i, step in zip(index, to, strict=True))
            order[there // unit] = here // unit
    return tuple(_runs_of(order))


def _in_units(turn: _Turn, unit: int) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Sizes, strides and steps by which whole units move: the innermost rows have to stay together."""
    if unit == 1:
        return turn.sizes, turn.strides, turn.to
    if (turn.strides[-1], turn.to[-1]) != (1, 1):
        raise _inside(1, unit)
    together = _units(turn.sizes[-1], unit)
    for step in (*turn.strides[:-1], *turn.to[:-1], turn.start, turn.place):
        _units(step, unit)
    return (*turn.sizes[:-1], together), (*turn.strides[:-1], unit), (*turn.to[:-1], unit)


def _units(rows: int, unit: int) -> int:
    if rows % unit:
        raise _inside(rows, unit)
    return rows // unit


def _inside(rows: int, unit: int) -> OutputError:
    return OutputError("SHD212", f"rows are permuted {rows} at a time, inside a unit of {unit}")


def _runs_of(order: list[int]) -> Iterator[tuple[int, int, int]]:
    """(source, place, length) of rows that stay next to each other."""
    start = 0
    for at in range(1, len(order) + 1):
        if at == len(order) or order[at] != order[at - 1] + 1:
            yield order[start], start, at - start
            start = at


def placed(move: Move, kept_rows: Regions) -> Iterator[Placed]:
    """The rows of a move as rows of the file's tensor, of which the local tensor has the regions `kept_rows`."""
    local = 0
    for start, stop, pad in kept_rows:
        real = _within(move, local, local + stop - start)
        if real is not None:
            yield Placed(replace(real.rows, start=real.rows.start + start - local), real.to)
        local += stop - start
        zeros = _within(move, local, local + pad)
        if zeros is not None:
            yield Placed(None, zeros.to)
        local += pad


def _within(move: Move, low: int, high: int) -> Move | None:
    """The runs of a move that lie in the local rows low .. high; a run that stands alone may be cut."""
    rows, to = move.rows, move.to
    if rows.size == 0:
        return None
    if rows.count == 1:
        start, stop = max(rows.start, low), min(rows.start + rows.size, high)
        if start >= stop:
            return None
        return Move(Rows(start, stop - start), Rows(to.start + start - rows.start, stop - start))
    first = max(-(-(low - rows.start) // rows.pitch), 0)
    count = min(-(-(high - rows.start) // rows.pitch), rows.count) - first
    if count <= 0:
        return None
    return Move(
        replace(rows, start=rows.start + first * rows.pitch, count=count),
        replace(to, start=to.start + first * to.pitch, count=count),
    )
