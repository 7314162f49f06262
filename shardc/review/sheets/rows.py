"""The tensors of a plan sheet: a row for those that every mesh of the sheet cuts alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from shardc.plan.as_text import shape
from shardc.plan.family import Family
from shardc.plan.rows import shown_name
from shardc.plan.stored import StoredPart
from shardc.review.sheets.cuts import Cut, Cuts, OnMesh

#: Widths of a sheet's columns are multiples of this.
STEP = 4


class Row(Struct, frozen=True):
    """Tensors of one name but for indices. `cells` have a shape or a code for each mesh, and `cuts` the same as values.

    `how` is the shard kind, and what decides which ranks have the tensor at all.
    """

    name: str
    count: int
    dtype: str
    cells: tuple[str, ...]
    how: str
    cuts: tuple[list[Cut] | str, ...] = ()

    @property
    def label(self) -> str:
        return f"{self.name} x{self.count}" if self.count != 1 else self.name

    @property
    def told_apart(self) -> str:
        """The name with what tells apart rows of one name."""
        return f"{self.label} ({self.dtype}; {self.how})"


def tensor_rows(cuts: Cuts, columns: Sequence[OnMesh]) -> list[Row]:
    """The rows of stored tensors in the order of the spec."""
    found: dict[object, Row] = {}
    for family in cuts.bound.families:
        for part in family.stored.parts:
            cut = tuple(cuts.of(family, part, column) for column in columns)
            cells = tuple(map(_cell, cut))
            row = Row(shown_name(part), part.count, _dtype(part), cells, _how(cuts, family, part), cut)
            key = row.name, row.dtype, row.cells, row.how, tuple(map(_key, cut))
            found[key] = replace(row, count=row.count + found[key].count) if key in found else row
    return list(found.values())


def _cell(cut: Sequence[Cut] | str) -> str:
    """`128 x 4096`, `21..22 x 64` where ranks differ, `* 128 x 4096` where it takes words to say which rows."""
    if isinstance(cut, str):
        return cut
    if not cut:
        return shape(())
    said = " x ".join([dim.length for dim in cut])
    return said if all(dim.is_plain for dim in cut) else f"* {said}"


def _key(cut: Sequence[Cut] | str) -> object:
    """Equal where cells are equal and the cuts are too."""
    return cut if isinstance(cut, str) else tuple([(dim.dim.i, dim.words) for dim in cut if not dim.is_plain])


def _dtype(part: StoredPart) -> str:
    return part.dtype if part.load == part.dtype else f"{part.dtype} to {part.load}"


def _how(cuts: Cuts, family: Family, part: StoredPart) -> str:
    return "; ".join([part.kind, *_kept_by(cuts, family)])


def _kept_by(cuts: Cuts, family: Family) -> Iterator[str]:
    """`experts over ep`, `pp first`."""
    axes = cuts.bound.axes_of(family)
    selecting = [f"{axis} over {axes[axis].over}" for axis in family.selecting]
    if selecting:
        yield ", ".join(selecting)
    for over, ends in family.entry.on.items():
        yield f"{over} {' and '.join(ends)}"
