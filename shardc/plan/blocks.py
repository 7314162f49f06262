"""Single tensors in full: formula, numbers, regions and bytes."""

from __future__ import annotations

from fnmatch import fnmatchcase

from shardc.layout.expr import Num, substitute
from shardc.layout.show import show
from shardc.plan.compile import Compiled
from shardc.plan.kinds import axes_of_dims
from shardc.plan.plan import Coords, Plan, Shard
from shardc.plan.rectangles import zero_fill

MOST = 50


def blocks(compiled: Compiled, rank: Coords, tensors: str) -> str:
    """One block for each tensor that the glob matches, at most 50."""
    plan = compiled.plan
    assert plan is not None
    out: list[str] = []
    more = 0
    for shard in plan.shards(rank):
        for name in shard.names:
            if fnmatchcase(name, tensors):
                if len(out) < MOST:
                    out.append(_block(compiled, plan, shard, name, rank))
                else:
                    more += 1
    if more:
        out.append(f"… and {more} more")
    return "\n\n".join(out) if out else f"no tensor on this rank matches {tensors}"


def _block(compiled: Compiled, plan: Plan, shard: Shard, name: str, rank: Coords) -> str:
    entry = shard.family.entry
    numbers = ", ".join(_numbers(plan, shard, i) for i in range(len(entry.dims)))
    lines = [name]
    lines.append(f"  shape    {entry.formula} = [{numbers}]")
    lines.append(f"  file     {shard.part.dtype} {list(shard.shape)}, {shard.full_bytes:,} bytes")
    lines.append(f"  rank     {', '.join(f'{dim} {rank.get(dim, 0)}' for dim in plan.mesh)}: {shard.kind}")
    lines.append(f"  local    {shard.part.load} {list(shard.local_shape)}, {shard.local_bytes:,} bytes")
    for i, dim in enumerate(shard.at):
        rows = ", ".join(f"{start}..{stop}" for start, stop, _ in dim if stop > start) or "nothing"
        lines.append(f"  dim {i}    {rows} of {shard.shape[i]}")
    if zero_fill(shard.at):
        lines.append(f"  zeros    {', '.join(str([list(span) for span in r]) for r in zero_fill(shard.at))}")
    span = _byte_range(shard)
    if span is not None:
        lines.append(f"  bytes    {span[0]:,}..{span[1]:,} of the tensor")
    used = axes_of_dims(entry.dims, plan.bound.axes_of(shard.family))
    for held in compiled.holds:
        if used & held.contract.names:
            lines.append(f"  contract {held.contract.use}: {show(held.contract.require)}")
    return "\n".join(lines)


def _numbers(plan: Plan, shard: Shard, i: int) -> str:
    """The formula with its values put in."""
    scope = shard.family.scope
    values = {n: v for n, v in scope.values.items() if isinstance(v, int) and not isinstance(v, bool)}
    values |= {axis: split.size for axis, split in scope.splits.items()}
    return show(substitute(shard.family.entry.dims[i], {name: Num(value) for name, value in values.items()}))


def _byte_range(shard: Shard) -> tuple[int, int] | None:
    """The one byte range of the tensor's data that the rank keeps; None where there are several."""
    if not shard.at or len(shard.at[0]) != 1 or any(len(dim) != 1 for dim in shard.at):
        return None
    if any((dim[0][0], dim[0][1]) != (0, n) for dim, n in zip(shard.at[1:], shard.shape[1:], strict=True)):
        return None
    if not shard.shape[0]:
        return None
    row = shard.full_bytes // shard.shape[0]
    start, stop, _ = shard.at[0][0]
    return start * row, stop * row
