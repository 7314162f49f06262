"""Whether dims fall into few enough regions, on whatever mesh: asked once, when a spec is bound."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from shardc.layout.evaluate import number
from shardc.layout.expr import Name
from shardc.layout.regions import Scope, regions
from shardc.layout.share import Share
from shardc.layout.split import Dealing, Split, deal
from shardc.plan.names import Names
from shardc.plan.resolved import Axis


def is_round_robin(name: str, axes: Mapping[str, Axis]) -> bool:
    """Whether an axis, or the one that it is within, is dealt round robin."""
    parent = axes[name].within
    return is_round_robin(parent, axes) if parent is not None else axes[name].how.placement == "round_robin"


def check_regions(names: Names, scope: Scope, axes: Mapping[str, Axis]) -> None:
    """FormulaError (SHD112) where a dim, or an axis that selects names, can have too many regions.

    The most there can be of an axis that is dealt round robin are those of a rank that keeps every second element.
    """
    splits = dict(scope.splits)
    for axis in names.selecting:
        if is_round_robin(axis, axes):
            splits[axis] = deal(axis, number(axes[axis].size, scope.values), axes[axis].over, 1, Dealing())
    every_second = {
        name: replace(split, shares=(_every_second(split, splits),))
        for name, split in splits.items()
        if is_round_robin(name, axes)
    }
    most = Scope(scope.values, {**splits, **every_second})
    for dim in (*names.entry.dims, *(Name(axis) for axis in names.selecting if axis in every_second)):
        regions(dim, most)


def _every_second(split: Split, splits: Mapping[str, Split]) -> Share:
    """Every second element of the root axis: of a child, every second group."""
    root, group = split, 1
    while root.parent is not None:
        group *= root.group
        root = splits[root.parent]
    return Share(0, root.size, step=2) * group
