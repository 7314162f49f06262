"""The laws that a plan must obey, checked on the plan itself. A violation is a bug of shardc, never of a spec.

1. Over the ranks of a mesh dim the regions of each dim cover it exactly, each row as often as is declared.
2. Every local row is written once or is declared padding.
3. At size 1 the plan is the identity.
4. Local rows over the ranks are full rows + replicas + padding.
5. Merging the ranks gives the file back: tested on bytes, in tests/laws.
"""

from __future__ import annotations

from dataclasses import dataclass

from shardc.diagnostics import ShardcBug
from shardc.layout.regions import Regions, local_size
from shardc.plan.bound import Family
from shardc.plan.kinds import axes_in
from shardc.plan.multiplicity import Runs, multiplicity
from shardc.plan.plan import Coords, Plan, segments
from shardc.plan.resolved import PartDim
from shardc.plan.stored import StoredPart


@dataclass(frozen=True)
class Proof:
    """What was proved anew: dims of tensors, over so many ranks. No dim is proved twice over equal ranks."""

    dims: int
    ranks: int


def prove(plan: Plan) -> Proof:
    """Check laws 1 to 4 on every dim of every stored tensor; raise ShardcBug (SHD901) at the first that fails."""
    proved = plan.bound.proved
    before = len(proved)
    ranks = 0
    for family in plan.families:
        _prove_names(plan, family)
        for part in family.stored.parts:
            for i, (dim, unit) in enumerate(plan.part_dims(family, part)):
                key = plan.dim_key(family, dim, unit)
                if key not in proved:
                    proved.add(key)
                    ranks += _prove_dim(plan, family, part, i, dim, unit)
    return Proof(len(proved) - before, ranks)


def dim_ranks(plan: Plan, family: Family, dim: int) -> list[Coords]:
    """A rank for each coordinate on the mesh dims that split one dim of a family."""
    coords: list[dict[str, int]] = [{}]
    for over in family.over[dim]:
        coords = [{**c, over: r} for c in coords for r in range(plan.mesh.get(over, 1))]
    return list(coords)


def dim_runs(plan: Plan, family: Family, part: StoredPart, i: int, dim: int) -> tuple[list[Regions], Runs]:
    """The regions of dim `i` of a stored tensor by rank, and how many ranks hold each row."""
    unit = plan.part_dims(family, part)[i][1]
    by_rank = [plan.part_dim(family, dim, unit, rank) for rank in dim_ranks(plan, family, dim)]
    return by_rank, multiplicity(by_rank, plan.part_shape(family, part)[i])


def _prove_dim(plan: Plan, family: Family, part: StoredPart, i: int, dim: int, unit: PartDim | None) -> int:
    by_rank, runs = dim_runs(plan, family, part, i, dim)
    size = plan.part_shape(family, part)[i]
    where = f"{part.names[0]}, dim {i}"
    allowed = _declared(plan, family, dim)
    for start, stop, count in runs:
        if count not in allowed and start < stop:
            raise ShardcBug(f"SHD901 law 1: {where}: {count} ranks hold rows {start}..{stop}, declared {allowed}")
    if runs and (runs[0][0], runs[-1][1]) != (0, size):
        raise ShardcBug(f"SHD901 law 1: {where}: regions reach beyond 0..{size}")
    for regions in by_rank:
        if any(start > stop or pad < 0 for start, stop, pad in regions):
            raise ShardcBug(f"SHD901 law 2: {where}: a region ends before it begins: {regions}")
    if len(by_rank) == 1 and by_rank[0] != ((0, size, 0),) and size:
        raise ShardcBug(f"SHD901 law 3: {where}: one rank keeps {by_rank[0]} of 0..{size}")
    local = sum(local_size(regions) for regions in by_rank)
    padding = sum(pad for regions in by_rank for _, _, pad in regions)
    replicas = sum((stop - start) * (count - 1) for start, stop, count in runs)
    if local != size + replicas + padding:
        raise ShardcBug(f"SHD901 law 4: {where}: {local} local rows, {size} + {replicas} + {padding} accounted for")
    return len(by_rank)


def _declared(plan: Plan, family: Family, dim: int) -> set[int]:
    """How many ranks may hold a row: as many as the axes of the dim say, and all of them where no axis cuts it."""
    over = family.over[dim]
    ranks = 1
    for name in over:
        ranks *= plan.mesh.get(name, 1)
    if family.entry.rank0_dim == dim:
        return {1}
    splits = plan.splits_of(family)
    axes = axes_in(family.entry.dims[dim], plan.bound.axes_of(family))
    declared = {splits[axis].replicas for axis in axes}
    return declared | ({ranks} if len(segments(family, dim)) > 1 or not axes else set())


def _prove_names(plan: Plan, family: Family) -> None:
    """Every name that an axis selects is kept by as many ranks as the axis declares."""
    axis = next((loop.axis for loop in family.entry.loops if loop.axis), None)
    if axis is None:
        return
    split = plan.splits_of(family)[axis]
    by_rank = [((share.start, share.stop, 0),) for share in split.shares]
    for start, stop, count in multiplicity(by_rank, split.size):
        if count != split.replicas and start < stop:
            raise ShardcBug(f"SHD901 law 1: {axis} {start}..{stop} are kept by {count} ranks, not {split.replicas}")
