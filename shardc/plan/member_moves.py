"""Where the members of an output go, in local rows: by what the output says, in the units of one of its parts."""

from __future__ import annotations

from shardc.layout.errors import FormulaError
from shardc.layout.regions import Regions, local_size
from shardc.plan.built import Built
from shardc.plan.plan import Coords, Plan
from shardc.plan.read_outputs import element_axis
from shardc.plan.row_moves import Move, OutputError, interleaved, kept, permuted
from shardc.plan.stored_dims import StoredDim


def member_moves(plan: Plan, built: Built, dims: list[StoredDim], at: list[Regions], rank: Coords) -> list[list[Move]]:
    """The moves of each member. `dims` are the members' output dims in one part, `at` the rank's regions of them.

    OutputError where a unit of the part would be cut, or where the rank has parts of an element.
    """
    lengths = [local_size(regions) for regions in at]
    elements = elements_of(plan, built, rank)
    if elements > 1:
        for dim in dims:
            rows, (unit, _) = weight_rows(plan, dim, rank) // elements, dim.ratio
            if rows % unit:
                raise OutputError("SHD212", f"rows are interleaved {rows} at a time, inside a unit of {unit}")
        return interleaved(lengths, elements)
    out = []
    place = 0
    for member, dim, length in zip(built.output.members, dims, lengths, strict=True):
        try:
            (unit, count), scope = dim.ratio, plan.scope(dim.family, rank)
            if member.runs and count != 1:
                raise OutputError("SHD212", f"rows are permuted, and {unit} of them are {count} packed words")
            out.append(permuted(member.runs, scope, unit, place) if member.runs else kept(length, place))
        except FormulaError as error:
            raise OutputError(error.code, error.message) from None
        place += length
    return out


def weight_rows(plan: Plan, dim: StoredDim, rank: Coords) -> int:
    """Rows of the weight, unpacked, that the rank keeps along the dim that a part's dim follows."""
    assert dim.dim is not None
    return local_size(plan.dim(dim.family, dim.dim, rank))


def elements_of(plan: Plan, built: Built, rank: Coords) -> int:
    """Elements of the axis of `interleave` on this rank, which has all rows of each of them; 1 for other outputs.

    OutputError where it has not.
    """
    by = built.output.by
    if by is None:
        return 1
    splits = plan.splits_of(built.families[0])
    share = splits[by].share(rank)
    for family in built.families if share.local > 1 else ():
        axis = element_axis(family.entry, by, plan.bound.axes_of(family))
        assert axis is not None
        own, group = splits[axis].share(rank), splits[axis].size // splits[by].size
        if own != share * group:
            of = f"{by} {share.start}..{share.stop}"
            raise OutputError("SHD230", f"a rank with {of} has only {axis} {own.start}..{own.stop} of them")
    return share.local
