"""A plan as a reader's table: one row for tensors that are cut alike, their indices as `*`."""

from __future__ import annotations

from fnmatch import fnmatchcase

from msgspec import Struct

from shardc.layout.strides import strides
from shardc.plan.kinds import axes_in
from shardc.plan.names import starred
from shardc.plan.plan import Coords, Plan, Shard
from shardc.plan.stored import StoredPart
from shardc.plan.totals import Totals, shard_totals


class Row(Struct, frozen=True):
    """Tensors of one entry, cut alike. `units` is what the rank has of the axis: `4 x 128` is 4 heads of 128 rows."""

    tensor: str
    count: int
    full_shape: tuple[int, ...]
    kind: str
    local_shape: tuple[int, ...]
    units: str
    dtype: str
    totals: Totals


def rows(plan: Plan, rank: Coords, tensors: str = "*") -> list[Row]:
    """The rank's rows in the order of the spec; families of one entry with equal cuts are joined."""
    found: dict[tuple[object, ...], Row] = {}
    for shard in plan.shards(rank):
        if not shard.names or (tensors != "*" and not any(fnmatchcase(name, tensors) for name in shard.names)):
            continue
        name = shown_name(shard.part)
        key = (name, shard.shape, shard.local_shape, shard.at, shard.part.dtype)
        count, totals = len(shard.names), shard_totals(plan, shard, rank)
        before = found.get(key)
        if before is not None:
            count, totals = before.count + count, before.totals + totals
        units = _units(plan, shard, rank)
        found[key] = Row(name, count, shard.shape, shard.kind, shard.local_shape, units, shard.part.dtype, totals)
    return list(found.values())


def shown_name(part: StoredPart) -> str:
    """The entry's pattern with `*` for indices, and the companion's own ending."""
    pattern = starred(part.weights.entry.pattern)
    return part.part.named(pattern) if part.part else pattern


def _units(plan: Plan, shard: Shard, rank: Coords) -> str:
    family, part = shard.family, shard.part.part
    if part is not None and part is not family.stored.format.parts[0]:
        return "-"
    axes = plan.bound.axes_of(family)
    for dim in family.entry.dims:
        for axis in axes_in(dim, axes):
            if axes[axis].role == "heads":
                return f"{plan.share(family, axis, rank).local} x {strides(dim, axis, family.scope)[0]}"
    return "-"
