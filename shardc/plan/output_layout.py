"""An output on one rank: its shape, where each of its rows comes from, and what of it is zero."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from math import prod

from msgspec import Struct

from shardc.layout.regions import Regions, local_size
from shardc.plan.built import Built
from shardc.plan.member_moves import member_moves
from shardc.plan.plan import Coords, Plan
from shardc.plan.rectangles import Rectangle, real_rows, zero_fill
from shardc.plan.row_moves import OutputError, Placed, Rows, placed
from shardc.plan.stored import StoredPart
from shardc.plan.stored_dims import StoredDim, stored_dims

#: A box of a tensor: the rows of each dim.
Box = tuple[Rows, ...]


class Piece(Struct, frozen=True):
    """Elements of one member, by its number: a box of the file's tensor, and the box of the output it becomes.

    Boxes leave out the dim of stacked elements; along the output dim both have as many runs of one size.
    """

    member: int
    source: Box
    to: Box


class OutputLayout(Struct, frozen=True):
    """One stored tensor of an output on one rank. `parts` are the members'.

    `shape` is local; `stacked` gives how many of its first dim's elements are tensors of the file, None where nothing
    is stacked. `dim` is the output dim in `shape` without the stacked one, None for scalars.
    """

    built: Built
    parts: tuple[StoredPart, ...]
    shape: tuple[int, ...]
    stacked: int | None
    dim: int | None
    pieces: tuple[Piece, ...]
    zeros: tuple[Box, ...]

    @property
    def dtype(self) -> str:
        """The dtype it has on the rank."""
        return self.parts[0].load

    def named(self, output: str) -> str:
        """Its name: the output's, or that of a companion beside it."""
        part = self.parts[0].part
        return output if part is None else part.named(output)

    @property
    def slice_shape(self) -> tuple[int, ...]:
        """The shape without the stacked dim."""
        return self.shape if self.stacked is None else self.shape[1:]


def output_layout(plan: Plan, built: Built, number: int, rank: Coords) -> OutputLayout:
    """Part `number` of an output on a rank; OutputError where the rank can't build it."""
    parts = tuple(family.stored.parts[number] for family in built.families)
    dims = [stored_dims(family, part) for family, part in zip(built.families, parts, strict=True)]
    front = stacked_elements(plan, built, rank)
    if all(part.is_scalar for part in parts):
        scalars = _scalars(len(parts))
        shape = (len(parts),) if len(parts) > 1 else ()
        return _layout(built, parts, shape, front, 0 if shape else None, scalars, ())
    at = [plan.part_at(family, part, rank) for family, part in zip(built.families, parts, strict=True)]
    dim = _output_dim(built, parts, dims)
    moves = member_moves(plan, built, [own[dim] for own in dims], [own[dim] for own in at], rank)
    pieces: list[Piece] = []
    zeros: list[Box] = []
    for member, (own, regions) in enumerate(zip(moves, at, strict=True)):
        for row in (row for move in own for row in placed(move, regions[dim])):
            others = regions[:dim] + regions[dim + 1 :]
            pieces += _copies(member, row, others, dim)
            zeros += _zeros(row, others, dim)
    rows = sum(local_size(regions[dim]) for regions in at)
    sizes = [local_size(regions) for regions in at[0]]
    return _layout(built, parts, (*sizes[:dim], rows, *sizes[dim + 1 :]), front, dim, tuple(pieces), tuple(zeros))


def _layout(
    built: Built, parts: tuple[StoredPart, ...], shape: tuple[int, ...], front: tuple[int, int] | None,
    dim: int | None, pieces: tuple[Piece, ...], zeros: tuple[Box, ...],
) -> OutputLayout:  # fmt: skip
    here, local = front or (None, 0)
    return OutputLayout(built, parts, shape if here is None else (local, *shape), here, dim, pieces, zeros)


def stacked_elements(plan: Plan, built: Built, rank: Coords) -> tuple[int, int] | None:
    """Elements that are stacked on this rank: those of the file, and those with the padding."""
    axis = built.output.stack_axis
    if axis is None:
        return None
    share = plan.share(built.families[0], axis, rank)
    return share.stop - share.start, share.local


def _scalars(members: int) -> tuple[Piece, ...]:
    """One value a member; the scalar itself where there is only one."""
    return tuple(Piece(i, (), (Rows(i, 1),) if members > 1 else ()) for i in range(members))


def _output_dim(built: Built, parts: tuple[StoredPart, ...], dims: list[list[StoredDim]]) -> int:
    """The dim of a part along which the members are put together."""
    for family, part, own in zip(built.families, parts, dims, strict=True):
        if all(dim.dim != family.entry.out_dim for dim in own):
            raise OutputError("SHD230", f"{part.first} has no output dim to put it together along")
    return next(dim.i for dim in dims[0] if dim.dim == built.families[0].entry.out_dim)


def _copies(member: int, row: Placed, others: tuple[Regions, ...], dim: int) -> Iterator[Piece]:
    """One piece for each product of the other dims' regions."""
    if row.source is None:
        return
    for at in itertools.product(*map(_runs, others)):
        source = tuple(Rows(start, stop - start) for start, stop, _ in at)
        to = tuple(Rows(place, stop - start) for start, stop, place in at)
        yield Piece(member, _with(source, dim, row.source), _with(to, dim, row.to))


def _runs(regions: Regions) -> list[tuple[int, int, int]]:
    """(start, stop, place in the local tensor) of a dim's real rows."""
    real = [(start, stop) for start, stop, _ in regions if stop > start]
    return [(start, stop, place) for (start, stop), (place, _) in zip(real, real_rows(regions), strict=True)]


def _zeros(row: Placed, others: tuple[Regions, ...], dim: int) -> Iterator[Box]:
    """The zero fill of one run of rows: all of it, or where the other dims end in padding."""
    if row.source is None:
        yield _with(tuple(Rows(0, local_size(regions)) for regions in others), dim, row.to)
        return
    for rectangle in zero_fill(others):
        yield _with(_box(rectangle), dim, row.to)


def _box(rectangle: Rectangle) -> Box:
    return tuple(Rows(start, stop - start) for start, stop in rectangle)


def _with(box: Box, dim: int, rows: Rows) -> Box:
    return (*box[:dim], rows, *box[dim:])


def elements(box: Box) -> int:
    """How many elements a box has."""
    return prod(rows.size * rows.count for rows in box)
