"""Splitting an axis once, for every tensor that mentions it; and axes that follow another's split."""

from __future__ import annotations

from dataclasses import replace
from math import lcm
from typing import Literal

from shardc.runtime.arithmetic import ceil_div, round_up
from shardc.runtime.axes import Axis
from shardc.runtime.deals import (
    DEALS,
    IfUneven,
    Placement,
    ReplicaOrder,
    deal_padded,
    deal_replicas,
    deal_round_robin,
)
from shardc.runtime.errors import ShardError, refuse
from shardc.runtime.meshes import MeshDim


def axis(
    name: str,
    size: int,
    mesh_dim: MeshDim,
    *,
    granule: int = 1,
    if_uneven: IfUneven = "error",
    if_fewer: Literal["error", "replicate"] = "error",
    replicas: ReplicaOrder = "blocked",
    pad_to: int | None = None,
    pad_local_to: int | None = None,
    placement: Placement = "contiguous",
) -> Axis:
    """This rank's part of an axis of `size` elements. On a mesh dim of size 1 it is the whole axis, unpadded.

    granule: elements that may not be cut apart.
    if_uneven: the deal where the granules do not divide (`deals.py`).
    if_fewer: what fewer granules than ranks mean: an uneven deal, or each granule on several ranks.
    replicas: which ranks those are: neighbours (blocked), or every n-th (cyclic).
    pad_to: the size is rounded up to lcm(pad_to, ranks * granule) before it is dealt.
    pad_local_to: each rank's part is rounded up after it is dealt, to whole granules too.
    placement: whether a rank's granules are neighbours (contiguous), or every n-th (round_robin).
    Raises SHD201; where findings are gathered, a refused axis is whole.
    """
    ranks = mesh_dim.size
    whole = Axis(name, size, 0, size, dim=mesh_dim.name, rank=mesh_dim.rank, ranks=ranks, granule=granule)
    if ranks == 1 or size == 0:
        return whole
    try:
        if pad_to is not None:
            part = deal_padded(whole, pad_to)
        elif if_fewer == "replicate" and ceil_div(size, granule) < ranks:
            part = deal_replicas(whole, replicas)
        elif placement == "round_robin":
            part = deal_round_robin(whole, if_uneven)
        else:
            part = DEALS[if_uneven](whole)
    except ShardError as error:
        refuse(*error.findings)
        return whole
    if pad_local_to is not None:
        padded = round_up(part.local, lcm(pad_local_to, granule))
        part = replace(part, pad=part.pad + padded - part.local)
    return part


def summed(part: Axis) -> None:
    """Checks an axis that splits the input of a layer, whose output is then summed over the ranks.

    Raises SHD206 where several ranks, though not all, keep each element: the sum would count it so often.
    """
    if part.replicas > 1 and part.stop - part.start < part.size:
        times = f"a sum over {part.dim} counts each of them {part.replicas} times"
        refuse(("SHD206", f"{part.size} {part.name} are on {part.replicas} {part.dim} ranks each, so {times}"))


def within(name: str, size: int, parent: Axis) -> Axis:
    """An axis of size / parent.size elements for each element of its parent (query heads within kv heads).

    A rank keeps whole groups; where several ranks share the parent's elements, each keeps its part of their groups.
    Raises SHD204; where findings are gathered, a refused axis is whole.
    """
    if parent.size == size == 0:
        return replace(parent, name=name)
    try:
        return deal_groups(name, size, parent)
    except ShardError as error:
        refuse(*error.findings)
        return replace(parent, name=name, size=size, start=0, stop=size, pad=0, sub=None, step=1, block=1)


def deal_groups(name: str, size: int, parent: Axis) -> Axis:
    """The parent's deal, each of its elements a group of this axis. Raises SHD204."""
    group, rest = divmod(size, parent.size) if parent.size else (0, size)
    if rest:
        raise ShardError(("SHD204", f"{size} {name} are not a whole multiple of the {parent.size} {parent.name}"))
    scaled = replace(
        parent,
        name=name,
        size=size,
        start=parent.start * group,
        stop=parent.stop * group,
        pad=parent.pad * group,
        granule=parent.granule * group,
        step=parent.step * max(group, 1),
        block=parent.block * max(group, 1),
    )
    return scaled if parent.sub is None else deal_to_sharers(scaled, parent.name, parent.sub)


def deal_to_sharers(shared: Axis, parent_name: str, sub: int) -> Axis:
    """Part `sub` of a span that several ranks share, cut evenly.

    Raises SHD204 where a span does not divide, be it another rank's: a whole granule, or the short one at the end.
    """
    sharers = shared.replicas
    lengths = (min(shared.granule, shared.size), shared.size % shared.granule) if shared.granule else ()
    for length in lengths:
        if length % sharers:
            text = f"{length} {shared.name} of one {parent_name} cannot be shared by {sharers} ranks"
            raise ShardError(("SHD204", text))
    each = (shared.stop - shared.start) // sharers
    start = shared.start + sub * each
    return replace(shared, start=start, stop=start + each, pad=0, replicas=1, sub=None)


def per(child: Axis, parent: Axis, index: int) -> tuple[int, int]:
    """The child's elements that this rank keeps of the group of parent element `index`, counted within the group."""
    group = child.size // parent.size
    start = max(child.start - index * group, 0)
    stop = min(child.stop - index * group, group)
    return (start, stop) if start < stop else (0, 0)
