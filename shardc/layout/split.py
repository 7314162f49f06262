"""How one axis is dealt to the ranks of one mesh dim.

An axis is dealt once, for every tensor that mentions it: q, k, v, their biases and the output projection agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from math import gcd, lcm
from typing import Literal

from msgspec import Struct

from shardc.layout.errors import SplitError
from shardc.layout.share import Share

Uneven = Literal["error", "spread", "ceil", "whole"]
Fewer = Literal["error", "replicate"]
ReplicaOrder = Literal["blocked", "cyclic"]
Placement = Literal["contiguous", "round_robin"]


class Dealing(Struct, frozen=True):
    """What a spec says of an axis: `granule` elements may not be cut apart; see docs/language.md for the rest."""

    granule: int = 1
    if_uneven: Uneven = "error"
    if_fewer: Fewer = "error"
    replicas: ReplicaOrder = "blocked"
    pad_to: int | None = None
    pad_local_to: int | None = None
    placement: Placement = "contiguous"


class Split(Struct, frozen=True):
    """An axis of `size` elements on every rank of `over`. `replicas` ranks hold each element.

    `sharing` says for each rank which of its parent element's replicas it is (0 where nothing is shared).
    """

    axis: str
    over: str
    size: int
    granule: int
    shares: tuple[Share, ...]
    replicas: int = 1
    sharing: tuple[int, ...] = ()
    parent: str | None = None
    group: int = 1

    def share(self, rank: Mapping[str, int]) -> Share:
        """What one rank has of the axis; `rank` gives its coordinate on each mesh dim, 0 where it gives none."""
        return self.shares[rank.get(self.over, 0)]


def deal(axis: str, size: int, over: str, ranks: int, how: Dealing) -> Split:
    """Deal `size` elements of `axis` to `ranks` ranks of the mesh dim `over`; SplitError (SHD201) if it can't be.

    At one rank the axis is whole and nothing is padded: a plan of size 1 is the identity.
    """
    granule = how.granule
    if ranks == 1 or size == 0:
        return Split(axis, over, size, granule, (Share(0, size),) * ranks, replicas=ranks)
    granules = -(-size // granule)
    if how.pad_to is not None:
        return _finish(axis, over, size, how, _padded(size, round_up(size, lcm(how.pad_to, ranks * granule)), ranks))
    if granules < ranks and how.if_fewer == "replicate":
        return _replicated(axis, size, over, ranks, how, granules)
    fits = size % (granule * ranks) == 0
    if how.if_uneven == "spread" and granules >= ranks:
        shares = _in_turn if how.placement == "round_robin" else _spread
        return _finish(axis, over, size, how, shares(size, granule, granules, ranks))
    if how.if_uneven == "ceil":
        return _finish(axis, over, size, how, _padded(size, -(-granules // ranks) * granule * ranks, ranks))
    if how.if_uneven == "whole" and not fits:
        return _finish(axis, over, size, how, (Share(0, size),) * ranks, replicas=ranks)
    if not fits:
        raise _indivisible(axis, size, over, ranks, granule)
    if how.placement == "round_robin":
        return _finish(axis, over, size, how, _in_turn(size, granule, granules, ranks))
    return _finish(axis, over, size, how, _padded(size, size, ranks))


def deal_within(axis: str, size: int, parent: Split) -> Split:
    """Deal an axis that is `parent` × (size / parent): whole groups, or parts of one where the parent is replicated."""
    if parent.size == 0 or size % parent.size:
        if size == 0 and parent.size == 0:
            return Split(axis, parent.over, 0, 1, parent.shares, parent=parent.axis)
        raise SplitError("SHD204", axis, f"{size} {axis} are not a whole multiple of the {parent.size} {parent.axis}")
    group = size // parent.size
    if parent.replicas == 1 or not parent.sharing:
        shares = tuple(share * group for share in parent.shares)
        return Split(axis, parent.over, size, 1, shares, parent.replicas, parent=parent.axis, group=group)
    return Split(axis, parent.over, size, 1, _parts_of_groups(axis, parent, group), parent=parent.axis, group=group)


def granule_of_stride(unit: int, stride: int) -> int:
    """The fewest elements of `stride` rows each that are whole units: a head of 64 rows is half a unit of 128, so 2."""
    return unit // gcd(unit, stride) if stride else 1


def number(a: int, b: int) -> str:
    """a / b for people: whole where it is, else with at most two decimals."""
    return str(a // b) if a % b == 0 else f"{a / b:.2f}".rstrip("0").rstrip(".")


def round_up(size: int, multiple: int) -> int:
    return -(-size // multiple) * multiple


def _padded(size: int, padded: int, ranks: int) -> tuple[Share, ...]:
    each = padded // ranks
    spans = ((min(r * each, size), min((r + 1) * each, size)) for r in range(ranks))
    return tuple(Share(start, stop, each - (stop - start)) for start, stop in spans)


def _spread(size: int, granule: int, granules: int, ranks: int) -> tuple[Share, ...]:
    each, more = divmod(granules, ranks)
    ends = [min((r * each + min(r, more)) * granule, size) for r in range(ranks + 1)]
    return tuple(Share(start, stop) for start, stop in pairwise(ends))


def _in_turn(size: int, granule: int, granules: int, ranks: int) -> tuple[Share, ...]:
    """Granule e to rank e % ranks; there are at least as many granules as ranks."""
    lasts = (r + (granules - 1 - r) // ranks * ranks for r in range(ranks))
    return tuple(
        Share(r * granule, min((last + 1) * granule, size), step=ranks * granule, block=granule)
        for r, last in enumerate(lasts)
    )


def _replicated(axis: str, size: int, over: str, ranks: int, how: Dealing, granules: int) -> Split:
    if ranks % granules:
        message = (
            f"{size} {axis} cannot be dealt to {ranks} {over} ranks: "
            f"fewer than the ranks, and {ranks} is not a multiple of {granules}"
        )
        raise SplitError("SHD201", axis, message, f"{size} over {ranks}: neither split nor shared evenly")
    copies = ranks // granules
    blocked = how.replicas == "blocked"
    owners = [r // copies if blocked else r % granules for r in range(ranks)]
    sharing = tuple(r % copies if blocked else r // granules for r in range(ranks))
    shares = tuple(Share(g * how.granule, min((g + 1) * how.granule, size)) for g in owners)
    return _finish(axis, over, size, how, shares, copies, sharing)


def _finish(
    axis: str,
    over: str,
    size: int,
    how: Dealing,
    shares: tuple[Share, ...],
    replicas: int = 1,
    sharing: tuple[int, ...] = (),
) -> Split:
    if how.pad_local_to is not None:
        tile = lcm(how.pad_local_to, how.granule)
        shares = tuple(Share(s.start, s.stop, s.pad + -s.local % tile) for s in shares)
    return Split(axis, over, size, how.granule, shares, replicas, sharing)


def _parts_of_groups(axis: str, parent: Split, group: int) -> tuple[Share, ...]:
    shares = []
    for share, part in zip(parent.shares, parent.sharing, strict=True):
        length = (share.stop - share.start) * group
        if length % parent.replicas:
            raise SplitError(
                "SHD204", axis, f"{length} {axis} of one {parent.axis} cannot be shared by {parent.replicas} ranks"
            )
        each = length // parent.replicas
        start = share.start * group + part * each
        shares.append(Share(start, start + each))
    return tuple(shares)


def _indivisible(axis: str, size: int, over: str, ranks: int, granule: int) -> SplitError:
    each = number(size, ranks)
    message = f"{size} {axis} cannot be dealt to {ranks} {over} ranks: "
    if granule == 1:
        return SplitError("SHD201", axis, message + f"{each} each", f"{size} over {ranks}: {each} each")
    elements = "1 element" if each == "1" else f"{each} elements"
    message += f"{number(size, granule)} granules of {granule}, {number(size, granule * ranks)} ({elements}) each"
    return SplitError("SHD201", axis, message, f"{number(size, granule)} granules of {granule} over {ranks}")
