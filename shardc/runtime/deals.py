"""The ways to deal a whole axis to the ranks of its mesh dim. Each takes the whole axis and returns one rank's part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import lcm
from typing import Literal

from shardc.runtime.arithmetic import ceil_div, round_up
from shardc.runtime.axes import Axis
from shardc.runtime.errors import ShardError

ReplicaOrder = Literal["blocked", "cyclic"]
IfUneven = Literal["error", "spread", "ceil", "whole"]
Placement = Literal["contiguous", "round_robin"]


def deal_padded(axis: Axis, pad_to: int) -> Axis:
    """Equal parts of the size rounded up to lcm(pad_to, ranks * granule); the last ranks hold the padding."""
    multiple = lcm(pad_to, axis.ranks * axis.granule)
    return fixed_part(axis, round_up(axis.size, multiple) // axis.ranks)


def deal_replicas(axis: Axis, order: ReplicaOrder) -> Axis:
    """One granule a rank, on several ranks: 2 over 4 are 0, 0, 1, 1 (blocked) or 0, 1, 0, 1 (cyclic)."""
    granules = ceil_div(axis.size, axis.granule)
    if axis.ranks % granules:
        reason = f"fewer than the ranks, and {axis.ranks} is not a multiple of {granules}"
        raise ShardError(("SHD201", f"{cannot_be_dealt(axis)}: {reason}"))
    replicas = axis.ranks // granules
    if order == "blocked":
        granule, sub = divmod(axis.rank, replicas)
    else:
        sub, granule = divmod(axis.rank, granules)
    return replace(span(axis, granule, granule + 1), replicas=replicas, sub=sub)


def deal_evenly(axis: Axis) -> Axis:
    """The same whole number of granules for every rank, else SHD201."""
    if not divides(axis):
        raise uneven(axis)
    each = axis.size // axis.ranks
    return replace(axis, start=axis.rank * each, stop=(axis.rank + 1) * each)


def deal_spread(axis: Axis) -> Axis:
    """Whole granules, one more for the first ranks: 64 over 3 are 22, 21, 21. SHD201 where a rank would get none."""
    granules = ceil_div(axis.size, axis.granule)
    if granules < axis.ranks:
        raise uneven(axis)
    each, more = divmod(granules, axis.ranks)
    first = axis.rank * each + min(axis.rank, more)
    return span(axis, first, first + each + (axis.rank < more))


def deal_ceil(axis: Axis) -> Axis:
    """ceil(granules / ranks) granules for every rank; the last ranks are short or empty, and zero-filled."""
    granules = ceil_div(axis.size, axis.granule)
    return fixed_part(axis, ceil_div(granules, axis.ranks) * axis.granule)


def deal_or_keep_whole(axis: Axis) -> Axis:
    """Even parts where the axis divides, else the whole axis on every rank."""
    return deal_evenly(axis) if divides(axis) else replace(axis, replicas=axis.ranks)


DEALS: dict[IfUneven, Callable[[Axis], Axis]] = {
    "error": deal_evenly,
    "spread": deal_spread,
    "ceil": deal_ceil,
    "whole": deal_or_keep_whole,
}


def deal_round_robin(axis: Axis, if_uneven: IfUneven) -> Axis:
    """Granule e for rank e % ranks: 5 over 2 are 0, 2, 4 and 1, 3. Refused, or kept whole, as neighbours would be."""
    neighbours = DEALS[if_uneven](axis)
    if neighbours.replicas > 1:
        return neighbours
    granules = ceil_div(axis.size, axis.granule)
    mine = range(axis.rank, granules, axis.ranks)
    part = span(axis, mine[0], mine[-1] + 1)
    return replace(part, step=axis.ranks * axis.granule, block=axis.granule)


def divides(axis: Axis) -> bool:
    """True where every rank gets the same whole number of granules."""
    return axis.size % (axis.granule * axis.ranks) == 0


def span(axis: Axis, first: int, last: int) -> Axis:
    """The granules [first, last), clipped to the axis."""
    return replace(axis, start=min(first * axis.granule, axis.size), stop=min(last * axis.granule, axis.size))


def fixed_part(axis: Axis, local: int) -> Axis:
    """`local` elements for every rank; what lies past the axis is padding."""
    start = min(axis.rank * local, axis.size)
    stop = min(start + local, axis.size)
    return replace(axis, start=start, stop=stop, pad=local - (stop - start))


def uneven(axis: Axis) -> ShardError:
    """SHD201 in numbers: what each rank would get."""
    each = quotient(axis.size, axis.ranks)
    if axis.granule > 1:
        granules = f"{quotient(axis.size, axis.granule)} granules of {axis.granule}"
        elements = "1 element" if each == "1" else f"{each} elements"
        each = f"{granules}, {quotient(axis.size, axis.granule * axis.ranks)} ({elements})"
    return ShardError(("SHD201", f"{cannot_be_dealt(axis)}: {each} each"))


def cannot_be_dealt(axis: Axis) -> str:
    """The head of every SHD201."""
    return f"{axis.size} {axis.name} cannot be dealt to {axis.ranks} {axis.dim} ranks"


def quotient(dividend: int, divisor: int) -> str:
    """`dividend / divisor` in words: whole, or at most two decimals: 0.5, 6.5, 1.33."""
    if dividend % divisor == 0:
        return str(dividend // divisor)
    return f"{dividend / divisor:.2f}".rstrip("0").rstrip(".")
