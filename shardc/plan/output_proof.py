"""The laws that hold for an output on each rank. A violation is a bug of shardc.

Each row of each member's local part goes into the output once, and each element of the output is written once: by a
piece, or by the zero fill.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby, pairwise
from math import prod

from shardc.diagnostics import ShardcBug
from shardc.plan.output_layout import OutputLayout, elements
from shardc.plan.row_moves import Rows

Interval = tuple[int, int]


def prove_output(layout: OutputLayout, members: list[list[Interval]]) -> None:
    """Check one output on one rank; `members` has the rows of the file that the rank keeps of each member.

    ShardcBug (SHD901) where a row is lost, taken twice or written twice.
    """
    where = layout.named(layout.built.output.pattern)
    boxes = [piece.to for piece in layout.pieces] + list(layout.zeros)
    if sum(map(elements, boxes)) != prod(layout.slice_shape):
        raise ShardcBug(f"SHD901 law 2: {where}: {sum(map(elements, boxes))} elements written of {layout.slice_shape}")
    if layout.dim is None:
        return
    if prod(layout.slice_shape):
        written = intervals({box[layout.dim] for box in boxes}, where)
        if written != [(0, layout.slice_shape[layout.dim])]:
            raise ShardcBug(f"SHD901 law 2: {where}: rows {written} are written of {layout.slice_shape}")
    for member, kept in enumerate(members):
        own = {piece.source[layout.dim] for piece in layout.pieces if piece.member == member and piece.source}
        if own and intervals(own, where) != kept:
            raise ShardcBug(f"SHD901 law 1: {where}: rows {intervals(own, where)} of member {member}, not {kept}")


def intervals(rows: Iterable[Rows], where: str) -> list[Interval]:
    """The rows that runs cover, as disjoint intervals; ShardcBug where two runs cover one row, or a pitch has a gap."""
    found = [(one.start, one.start + one.size) for one in rows if one.count == 1 and one.size]
    repeated = sorted((one for one in rows if one.count > 1), key=lambda one: (one.pitch, one.count, one.start))
    for (pitch, count), alike in groupby(repeated, key=lambda one: (one.pitch, one.count)):
        pending = list(alike)
        while pending:
            begin = pending[0].start
            block = [one for one in pending if one.start < begin + pitch]
            pending = pending[len(block) :]
            inside = joined([(one.start, one.start + one.size) for one in block], where)
            if inside != [(begin, begin + pitch)]:
                raise ShardcBug(f"SHD901 law 2: {where}: rows {inside} of every {pitch} from {begin}")
            found.append((begin, begin + pitch * count))
    return joined(found, where)


def joined(parts: list[Interval], where: str) -> list[Interval]:
    """Intervals in order, neighbours as one; ShardcBug where two overlap."""
    ordered = sorted(parts)
    for (_, stop), (start, _) in pairwise(ordered):
        if start < stop:
            raise ShardcBug(f"SHD901 law 2: {where}: row {start} twice")
    out: list[Interval] = []
    for start, stop in ordered:
        if out and out[-1][1] == start:
            out[-1] = (out[-1][0], stop)
        else:
            out.append((start, stop))
    return out
