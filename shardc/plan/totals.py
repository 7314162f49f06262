"""Bytes: of the file, of a rank, of what ranks hold in common, and of padding."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from shardc.plan.family import Family
from shardc.plan.multiplicity import rows_held
from shardc.plan.plan import Coords, Plan, Shard
from shardc.plan.proof import dim_runs
from shardc.plan.stages import ranks_at
from shardc.plan.stored_dims import StoredDim, stored_dims
from shardc.spec.dtypes import SIZES


class Totals(Struct, frozen=True):
    """Bytes. `full` of the file's tensors that the spec claims; `local` on one rank, in the dtypes it loads.

    `replicated` of the local bytes are on another rank too; `padding` of them are zero fill.
    """

    full: int = 0
    local: int = 0
    replicated: int = 0
    padding: int = 0

    def __add__(self, other: Totals) -> Totals:
        return Totals(
            self.full + other.full,
            self.local + other.local,
            self.replicated + other.replicated,
            self.padding + other.padding,
        )


def shard_totals(plan: Plan, shard: Shard, rank: Coords) -> Totals:
    """The bytes of all tensors of one shard: `full` over all its names, the rest over those the rank keeps."""
    kept = len(shard.names)
    item = SIZES[shard.part.load]
    return Totals(
        full=shard.full_bytes * shard.part.count,
        local=shard.local_bytes * kept,
        replicated=(shard.real_elements - _rows_alone(plan, shard, rank)) * item * kept,
        padding=shard.padding_bytes * kept,
    )


def rank_totals(plan: Plan, rank: Coords) -> Totals:
    """The bytes of everything one rank keeps."""
    out = Totals()
    for shard in plan.shards(rank):
        out += shard_totals(plan, shard, rank)
    return out


def _rows_alone(plan: Plan, shard: Shard, rank: Coords) -> int:
    """Elements of one local tensor that no other rank holds."""
    dims = stored_dims(shard.family, shard.part)
    if is_shared(plan, shard.family, dims):
        return 0
    alone = 1
    for dim in dims:
        _, runs = dim_runs(plan, dim)
        alone *= rows_held(shard.at[dim.i], runs, 1)
    return alone


def is_shared(plan: Plan, family: Family, dims: Sequence[StoredDim]) -> bool:
    """Whether no rank that keeps a stored tensor with these dims is the only one to hold what it has of it."""
    splitting = {over for dim in dims for over in dim.over}
    for over, ends in family.entry.on.items():
        if len(ranks_at(ends, plan.mesh.get(over, 1))) == 1:
            splitting.add(over)
    for axis in family.selecting:
        split = plan.splits_of(family)[axis]
        if split.replicas > 1:
            return True
        splitting.add(split.over)
    return any(size > 1 and over not in splitting for over, size in plan.mesh.items())
