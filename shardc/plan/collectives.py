"""What the model has to do between ranks, as the shard kinds imply it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from shardc.plan.kinds import REDUCED, axes_in, words_of
from shardc.plan.plan import Plan
from shardc.plan.resolved import Entry, Resolved
from shardc.plan.summed import is_whole

_EMBEDDINGS = ("embed", "wte")


class Collective(Struct, frozen=True):
    """After (or, for an embedding, around) the tensor `pattern`, the ranks of `over` do `what`.

    all_reduce: sum the output. masked_all_reduce: look up own rows, zeros for others, sum. gather: concatenate
    the output. combine: sum the experts' outputs. sum_of_squares: share the statistic of a norm over a split dim.
    """

    pattern: str
    what: str
    over: str


def collectives(resolved: Resolved) -> list[Collective]:
    """Every collective of the architecture, once; one whose mesh dim has a single rank is no work."""
    return list(dict.fromkeys(one for entry in resolved.entries for one in implied(entry, resolved)))


def at_work(plan: Plan) -> list[Collective]:
    """Those whose mesh dim has more than one rank, of the tensors that this config has."""
    return list(dict.fromkeys(one for entry in plan.bound.here for one in work_of(entry, plan)))


def work_of(entry: Entry, plan: Plan) -> Iterator[Collective]:
    """Those of one tensor of the plan."""
    for one in implied(entry, plan.bound.resolved):
        if plan.mesh.get(one.over, 1) > 1 and not (one.what == "all_reduce" and _alone(entry, plan)):
            yield one


def _alone(entry: Entry, plan: Plan) -> bool:
    """Whether every rank has all of the axes of the input, and so the whole output (`if_uneven: whole`)."""
    families = [family for family in plan.families if family.entry is entry]
    if entry.in_dim is None or not families:
        return False
    inputs = axes_in(entry.dims[entry.in_dim], plan.bound.resolved.axes_of(entry))
    return all(is_whole(plan.splits_of(family)[axis]) for family in families for axis in inputs)


def implied(entry: Entry, resolved: Resolved) -> Iterator[Collective]:
    """Those of one tensor, whatever the mesh."""
    axes = resolved.axes_of(entry)
    words = words_of(entry.derived)
    if any(word in REDUCED for word in words) and entry.in_dim is not None:
        for over in dict.fromkeys(axes[axis].over for axis in axes_in(entry.dims[entry.in_dim], axes)):
            yield Collective(entry.pattern, "all_reduce", over)
    if "vocab_rows" in words and entry.out_dim is not None:
        over = axes[axes_in(entry.dims[entry.out_dim], axes)[0]].over
        if entry.collective in (None, "gather", "masked_all_reduce"):
            embedding = any(word in entry.pattern for word in _EMBEDDINGS)
            what = entry.collective or ("masked_all_reduce" if embedding else "gather")
            yield Collective(entry.pattern, what, over)
    if entry.collective == "sum_of_squares":
        split = [axis for dim in entry.dims for axis in axes_in(dim, axes)]
        if split:
            yield Collective(entry.pattern, "sum_of_squares", axes[split[0]].over)
    if "expert_slices" in words and any(word in REDUCED for word in words):
        stacked = [axis for dim in entry.dims[: entry.leads] for axis in axes_in(dim, axes)]
        selecting = [loop.axis for loop in entry.loops if loop.axis]
        experts = next(axis for axis in stacked + selecting if axes[axis].role == "experts")
        # The experts' outputs are summed after their last tensor: the one that leads back to the hidden dim.
        yield Collective(entry.pattern, "combine", axes[experts].over)
