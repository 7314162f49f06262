"""Which layouts DTensor can express: a local tensor's placement on each mesh dim, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from shardc.runtime.compositions import Composition
from shardc.runtime.row_runs import RowRuns, chunk_of, in_words, rows_in

Placements = dict[str, Any]  # torch.distributed.tensor.Placement by mesh dim
Line = Sequence[Composition | None]  # one tensor on every rank of a mesh dim; None: that rank has none


class Along(NamedTuple):
    """The placement on one mesh dim, and the tensor's dim that it is about, if any; or why there is none."""

    placement: Any = None
    dim: int | None = None
    reason: str = ""


def placements_of(
    full: Composition, own: Composition, lines: Mapping[str, Line], over: Sequence[str]
) -> Placements | str:
    """A tensor's placement on each of the mesh dims `over`, or why it has none.

    lines: what each rank has of it, along each mesh dim through this rank; on a mesh dim without a line all have the
    same. A mesh dim on which only some ranks have the tensor is left out. A placement stands for what every rank keeps:
    it is there only if DTensor would give each of them the very same rows.
    """
    found = {
        name: along(name, full, lines[name]) if name in lines else Along(dtensor_class("Replicate")())
        for name in over
        if None not in lines.get(name, ())
    }
    if not found:
        return "only some ranks have it, and there is no other mesh dim for a DTensor to be over"
    placed = {one.dim for one in found.values()}
    reasons = [one.reason for one in found.values() if one.reason]
    reasons += [
        not_whole(dim, own[dim], full[dim]) for dim in range(len(full)) if dim not in placed and own[dim] != full[dim]
    ]
    return reasons[0] if reasons else {name: one.placement for name, one in found.items()}


def dtensor_class(name: str) -> Any:
    """A class of torch.distributed.tensor, which is imported when it is asked for: that takes half a second."""
    return getattr(import_module("torch.distributed.tensor"), name)


def along(name: str, full: Composition, line: Line) -> Along:
    """The placement on one mesh dim, all of whose ranks have the tensor."""
    parts = [part for part in line if part is not None]
    varying = [dim for dim in range(len(full)) if len({part[dim] for part in parts}) > 1]
    if not varying:
        return Along(dtensor_class("Replicate")())
    if len(varying) > 1:
        return Along(reason=f"dims {' and '.join(map(str, varying))} are cut over {name} together")
    dim = varying[0]
    found = [part[dim] for part in parts]
    expected = [chunk_of(full[dim], rank, len(parts)) for rank in range(len(parts))]
    if found == expected:
        return Along(dtensor_class("Shard")(dim), dim)
    zeros: RowRuns = ((None, 0, rows_in(full[dim])),)
    if found == [full[dim], *[zeros] * (len(parts) - 1)]:
        return Along(dtensor_class("Partial")("sum"), dim)
    reason, rank = first_difference(found, expected)
    has, shard = in_words(found[rank]), in_words(expected[rank])
    text = f"{reason}: {name} rank {rank} has {has} of dim {dim}, where Shard({dim}) would give it {shard}"
    return Along(dim=dim, reason=text)


def first_difference(found: Sequence[RowRuns], expected: Sequence[RowRuns]) -> tuple[str, int]:
    """What the ranks' rows of one dim have that no chunks have, and the first rank that shows it."""
    differ = [rank for rank, runs in enumerate(found) if runs != expected[rank]]
    padded = [rank for rank in differ if any(source is None for source, _, _ in found[rank])]
    if padded:
        return "padded", padded[0]
    if len(set(found)) < len(found):
        return "shared by ranks", differ[0]
    pieces = any(len(runs) > 1 for runs in found)
    return "in pieces" if pieces else "cut unevenly", differ[0]


def not_whole(dim: int, own: RowRuns, full: RowRuns) -> str:
    """Why a dim that no mesh dim cuts is not as in the file."""
    return f"dim {dim} is {in_words(own)} on each of these ranks, and {in_words(full)} in the full tensor"
