"""The laws that a plan must obey, checked on the plan itself. A violation is a bug of shardc, never of a spec.

1. Over the ranks of a mesh dim the regions of each dim cover it exactly, each row as often as is declared.
2. Every local row is written once or is declared padding.
3. At size 1 the plan is the identity.
4. Local rows over the ranks are full rows + replicas + padding.
5. Merging the ranks gives the file back: tested on bytes, in tests/laws.
"""

from __future__ import annotations

from math import prod

from msgspec import Struct

from shardc.diagnostics import ShardcBug
from shardc.layout.paths import paths
from shardc.layout.regions import Regions, local_size
from shardc.plan.family import Family
from shardc.plan.multiplicity import Runs, multiplicity
from shardc.plan.output_ranks import prove_outputs
from shardc.plan.plan import Plan
from shardc.plan.stages import is_on
from shardc.plan.stored_dims import StoredDim


class Proof(Struct, frozen=True):
    """What was proved anew: dims of tensors, over so many ranks. No dim is proved twice over equal ranks."""

    dims: int
    ranks: int


def prove(plan: Plan) -> Proof:
    """Check laws 1 to 4 on a dim of each group that is cut alike; raise ShardcBug (SHD901) at the first that fails."""
    proved = plan.bound.proved
    dims = ranks = 0
    for key, group in plan.bound.groups_on(plan.mesh):
        if key not in proved:
            proved.add(key)
            ranks += _prove_dim(plan, group[0])
            dims += 1
    for family in plan.bound.placed:
        _prove_names(plan, family)
    prove_outputs(plan)
    return Proof(dims, ranks)


def dim_runs(plan: Plan, dim: StoredDim) -> tuple[list[Regions], Runs]:
    """The regions of a dim by rank, and how many ranks hold each row."""
    by_rank = plan.cut_everywhere(dim)
    return by_rank, multiplicity(by_rank, dim.size)


def _prove_dim(plan: Plan, dim: StoredDim) -> int:
    by_rank, runs = dim_runs(plan, dim)
    size = dim.size
    where = f"{dim.part.first}, dim {dim.i}"
    allowed = _declared(plan, dim)
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


def _declared(plan: Plan, dim: StoredDim) -> set[int]:
    """How many ranks may hold a row, for each way through the layout: as its axes say, and all where none is over."""
    family, entry = dim.family, dim.family.entry
    if dim.dim is None or not dim.over:
        return {1}
    if entry.rank0_dim == dim.dim:
        return {prod(plan.sizes_of(dim)) if plan.is_alone(family) else 1}
    splits = plan.splits_of(family)
    out = set()
    for axes in paths(entry.dims[dim.dim], splits.keys()):
        copies = dict(zip(dim.over, plan.sizes_of(dim), strict=True))
        for axis in axes:
            copies[splits[axis].over] = min(copies[splits[axis].over], splits[axis].replicas)
        out.add(prod(copies.values()))
    return out


def _prove_names(plan: Plan, family: Family) -> None:
    """A name that an axis selects is kept by as many ranks as the axis declares; one that `only` pins, by its ranks."""
    for axis in family.selecting:
        split = plan.splits_of(family)[axis]
        key = (split.axis, family.env_key, len(split.shares))
        if key in plan.bound.proved:
            continue
        plan.bound.proved.add(key)
        by_rank = [tuple((start, stop, 0) for start, stop in share.runs) for share in split.shares]
        for start, stop, count in multiplicity(by_rank, split.size):
            if count != split.replicas and start < stop:
                raise ShardcBug(f"SHD901 law 1: {axis} {start}..{stop} are kept by {count} ranks, not {split.replicas}")
    for over, ends in family.entry.on.items():
        size = plan.mesh.get(over, 1)
        if (over, ends, size) in plan.bound.proved:
            continue
        plan.bound.proved.add((over, ends, size))
        held = [rank for rank in range(size) if is_on({over: ends}, plan.mesh, {over: rank})]
        if (
            len(held) != min(size, len(ends))
            or ("first" in ends and held[0])
            or ("last" in ends and held[-1] != size - 1)
        ):
            raise ShardcBug(f"SHD901 law 1: {family.entry.pattern} is on {over} ranks {held} of {size}, not {ends}")
