"""The names that each entry stands for, in one config. Tensors of one family have one shape."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping
from math import prod

from shardc.layout.errors import FormulaError
from shardc.layout.evaluate import condition, number
from shardc.layout.expr import Expr, names
from shardc.layout.show import show
from shardc.plan.names import Names
from shardc.plan.resolved import Entry, Loop

#: Tensors of a whole spec: some five times the largest published checkpoint's.
MAX_TENSORS = 1_000_000
#: What a combination of indices costs, in tensors, where a shape or a condition depends on it.
_COMBINATION = 50


#: Combinations of indices for which conditions hold, by the conditions: the tensors of a group share them.
Held = dict[Hashable, list[dict[str, int]]]


def enumerate_names(entry: Entry, values: Mapping[str, object], held: Held | None = None) -> list[Names]:
    """Every name of the entry whose conditions hold, family by family. FormulaError where a formula has no value.

    `held` remembers, for one config, what has been worked out.
    """
    ranges = ranges_of(entry, values)
    shaping = _shaping(entry)
    outer = _outer(entry)
    inner = tuple((loop.index, ranges[loop.index]) for loop in entry.loops if loop.index not in outer)
    conditions = (*map(id, entry.when), id(entry.loops), *outer)
    held = {} if held is None else held
    if conditions not in held:
        held[conditions] = _holding(entry, outer, ranges, values)
    families: dict[tuple[int, ...], list[dict[str, int]]] = {}
    for env in held[conditions]:
        key = tuple(env[index] for index in outer if index in shaping)
        families.setdefault(key, []).append(env)
    return [
        Names(entry, {index: envs[0][index] for index in outer if index in shaping}, tuple(envs), inner)
        for envs in families.values()
    ]


def _holding(
    entry: Entry, outer: list[str], ranges: Mapping[str, range], values: Mapping[str, object]
) -> list[dict[str, int]]:
    """The combinations of the outer indices for which the entry's conditions hold."""
    out = []
    here = dict(values)
    for combination in itertools.product(*(ranges[index] for index in outer)):
        env = dict(zip(outer, combination, strict=True))
        here.update(env)
        if all(condition(when, here) for when in entry.when):
            out.append(env)
    return out


def tensor_count(entry: Entry, values: Mapping[str, object]) -> int:
    """At most how many tensors an entry stands for, and more where telling them apart is work."""
    ranges = ranges_of(entry, values)
    combinations = prod(len(ranges[index]) for index in _outer(entry))
    return prod(map(len, ranges.values())) + (combinations - 1) * _COMBINATION


def ranges_of(entry: Entry, values: Mapping[str, object]) -> dict[str, range]:
    """The values of each index."""
    return {loop.index: _range(loop, values) for loop in entry.loops}


def _range(loop: Loop, values: Mapping[str, object]) -> range:
    found = range(number(loop.start, values), number(loop.stop, values))
    size = number(loop.size, values) if loop.size is not None else found.stop
    if found.stop > size:
        message = f"`{show(loop.stop)}` = {found.stop} is past the {size} {loop.axis}"
        raise FormulaError("SHD112", message, loop.stop.at, f"`to` is at most the size of {loop.axis}")
    return found


def _outer(entry: Entry) -> list[str]:
    """The indices that a shape or a condition depends on."""
    deciding = {name for when in entry.when for name in names(when)} | _shaping(entry)
    return [loop.index for loop in entry.loops if loop.index in deciding]


def _shaping(entry: Entry) -> set[str]:
    """Indices that occur in the shape, or in the size of an axis of the group's own."""
    exprs: list[Expr] = [*entry.dims, *(axis.size for axis in entry.axes.values())]
    return set().union(*map(names, exprs)) & {loop.index for loop in entry.loops} if exprs else set()
