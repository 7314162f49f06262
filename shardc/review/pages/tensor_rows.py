"""The tensors of a report: one row for those that are stored and cut alike on every mesh that it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from shardc.layout.show import show
from shardc.layout.strides import strides
from shardc.plan.bound import AxisKey, Bound
from shardc.plan.family import Family
from shardc.plan.kinds import axes_in
from shardc.plan.names import starred
from shardc.plan.plan import Plan, Shard
from shardc.plan.resolved import PartDim
from shardc.plan.stages import Ends
from shardc.plan.stored import StoredPart
from shardc.plan.stored_dims import StoredDim, stored_dims
from shardc.review.pages.cut_table import CutTable, PlanCuts
from shardc.review.pages.kept import Kept, KeptNames
from shardc.review.pages.marks import marks
from shardc.spec.dtypes import SIZES


class TensorRow(Struct, frozen=True):
    """Tensors of one name but for indices; `families` has all of theirs.

    `cuts` has for each plan the cut of each dim, `kept` for each the names that ranks keep.
    """

    families: tuple[Family, ...]
    part: StoredPart
    dims: tuple[StoredDim, ...]
    cuts: tuple[tuple[int, ...], ...]
    kept: tuple[Kept, ...]
    count: int

    @property
    def family(self) -> Family:
        """The first; what is read off it holds for all."""
        return self.families[0]

    @property
    def name(self) -> str:
        return starred(self.pattern)

    @property
    def pattern(self) -> str:
        """The entry's pattern with its indices, and the companion's own ending."""
        pattern = self.family.entry.pattern
        return self.part.part.named(pattern) if self.part.part else pattern

    @property
    def is_main(self) -> bool:
        """Whether it is the weight itself, plain or packed, and not one of its companions."""
        return self.part.part is None or self.part.part is self.family.stored.format.parts[0]


def tensor_rows(plans: Sequence[Plan], table: CutTable) -> list[TensorRow]:
    """The rows of plans of one bound spec, in the order of the spec; the plans are free of faults."""
    cuts = [PlanCuts(plan, table) for plan in plans]
    names = KeptNames()
    found: dict[tuple[object, ...], TensorRow] = {}
    for family in plans[0].families:
        kept = tuple(names.of(plan, family) for plan in plans)
        for part in family.stored.parts:
            dims = tuple(stored_dims(family, part))
            cut = tuple(tuple(one.dim(dim) for dim in dims) for one in cuts)
            row = TensorRow((family,), part, dims, cut, kept, part.count)
            over = tuple(one.over for one in kept)
            key = (row.name, part.dtype, part.load, family.stored.format.name, over, cut)
            before = found.get(key)
            if before is not None:
                both = tuple(a + b for a, b in zip(before.kept, kept, strict=True))
                families = (*before.families, family)
                row = TensorRow(families, before.part, before.dims, cut, both, before.count + part.count)
            found[key] = row
    return list(found.values())


def row_data(row: TensorRow, bound: Bound, group: int, axes: Mapping[AxisKey, int]) -> dict[str, object]:
    """What a row says on every mesh. Keys are short: rows are many. `axes` numbers the axes of the report."""
    family, part = row.family, row.part
    entry = family.entry
    out: dict[str, object] = {
        "t": row.name,
        "p": row.pattern,
        "g": group,
        "n": row.count,
        "s": [dim.size for dim in row.dims],
        "f": _formula(row),
        "k": Shard(family, part, (), (), ()).kind,
        "d": part.dtype,
        "l": part.load,
        "b": SIZES[part.load],
        "fb": SIZES[part.dtype],
        "fm": family.stored.format.name,
        "m": [marks(dim, bound) for dim in row.dims],
        "pic": picture_dims(row.dims),
    }
    if row.is_main:
        out["e"] = entry.pattern
        out["u"] = _heads(family, bound, axes)
    else:
        out["c"] = 1
    selecting = [axes[axis_key(one, axis)] for one in row.families for axis in one.selecting]
    if selecting:
        out["sel"] = list(dict.fromkeys(selecting))
    for key, told in (("on", _only(row)), ("w", _when(row))):
        if told:
            out[key] = told
    if part.part is not None and part.part.values:
        out["v"] = part.part.values
    return out


def picture_dims(dims: Sequence[StoredDim]) -> list[object]:
    """[dim drawn as rows, dim drawn as columns or -1, further dims that are cut]: of a weight its output and input."""
    if not dims:
        return [-1, -1, []]
    entry = dims[0].family.entry
    wanted = [dim.i for dim in dims if dim.dim is not None and dim.dim in (entry.out_dim, entry.in_dim)]
    drawn = sorted(wanted or [dims[-1].i])[:2]
    rest = [dim for dim in dims if dim.i not in drawn]
    plain = [dim.i for dim in rest if not dim.over and dim.size > 1]
    for at, i in enumerate(drawn):
        # A dim of 1 says nothing: a convolution's taps stand in for it.
        if at and dims[i].size == 1 and plain and not dims[i].over:
            drawn[at] = plain.pop()
    rows, columns = (drawn[0], drawn[1]) if len(drawn) > 1 else (drawn[0], -1)
    return [rows, columns, [dim.i for dim in rest if dim.over and dim.i not in drawn]]


def axis_key(family: Family, axis: str) -> AxisKey:
    """The key of an axis that a family names: its group's own, or the spec's."""
    return (axis, family.env_key if axis in family.entry.axes else ())


def _only(row: TensorRow) -> list[str]:
    """The ranks that alone have the tensors: `pp first and last`."""

    def told(on: Ends) -> str:
        return ", ".join(f"{over} {' and '.join(ends)}" for over, ends in on.items())

    return _by_group({one.entry.group: told(one.entry.on) for one in row.families})


def _when(row: TensorRow) -> list[str]:
    """The conditions under which the tensors are there."""
    return _by_group({one.entry.group: " and ".join(map(show, one.entry.when)) for one in row.families})


def _by_group(told: Mapping[str, str]) -> list[str]:
    """What each group says, once; with the group's name where groups differ."""
    if len(set(told.values())) == 1:
        return [text for text in list(told.values())[:1] if text]
    return [f"{group}: {text}" for group, text in told.items() if text]


def _heads(family: Family, bound: Bound, axes: Mapping[AxisKey, int]) -> list[int] | None:
    """[axis, rows of an element] of the first head axis; None where there is none."""
    own = bound.axes_of(family)
    for dim in family.entry.dims:
        for axis in axes_in(dim, own):
            if own[axis].role == "heads":
                return [axes[axis_key(family, axis)], strides(dim, axis, family.scope)[0]]
    return None


def _formula(row: TensorRow) -> str:
    """The shape as its author wrote it, and how a format stores it."""
    entry, part = row.family.entry, row.part.part
    if part is None or (row.is_main and all(dim.unit == dim.count == 1 for dim in part.dims)):
        return entry.formula
    if row.part.is_scalar:
        return f"one number for {entry.formula}"
    stored = _units(part.dims, entry.leads)
    return f"{entry.formula} as {stored}" if row.is_main else f"{stored} of {entry.formula}"


def _units(dims: Sequence[PartDim], leads: int) -> str:
    """A companion's shape in units of its weight: `[ceil(out / 128), in / 128]`."""
    words = []
    for dim in dims:
        if dim.role is None:
            words.append(str(dim.count))
            continue
        text = dim.role if dim.count == 1 else f"{dim.role} * {dim.count}"
        text = text if dim.unit == 1 else f"{text} / {dim.unit}"
        words.append(f"ceil({text})" if dim.ceil else text)
    return f"[{', '.join(['…'] * leads + words)}]"
