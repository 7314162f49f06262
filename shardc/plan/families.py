"""The names that each entry stands for, in one config. Tensors of one family have one shape."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from shardc.layout.errors import FormulaError
from shardc.layout.evaluate import condition, number
from shardc.layout.expr import Expr, names
from shardc.plan.resolved import Entry, Loop

MAX_TENSORS = 1_000_000


@dataclass(frozen=True)
class Names:
    """Names of one entry whose shape is the same. `env` holds the indices that the shape depends on.

    `elements` gives, for each axis that selects names (experts), the element of each name.
    """

    entry: Entry
    env: Mapping[str, int]
    names: tuple[str, ...]
    elements: Mapping[str, tuple[int, ...]]

    def picked(self, at: Sequence[int]) -> Names:
        """Those of the names that stand at these positions."""
        elements = {axis: tuple(of[i] for i in at) for axis, of in self.elements.items()}
        return Names(self.entry, self.env, tuple(self.names[i] for i in at), elements)


def enumerate_names(entry: Entry, values: Mapping[str, object]) -> list[Names]:
    """Every name of the entry whose conditions hold, family by family. FormulaError where a formula has no value."""
    ranges = {loop.index: _range(loop, values) for loop in entry.loops}
    if prod(len(r) for r in ranges.values()) > MAX_TENSORS:
        raise FormulaError("SHD112", f"`{entry.pattern}` stands for over {MAX_TENSORS:,} tensors")
    deciding = set().union(*map(names, entry.when)) if entry.when else set()
    shaping = _shaping(entry)
    outer = [loop.index for loop in entry.loops if loop.index in deciding | shaping]
    inner = [loop for loop in entry.loops if loop.index not in outer]
    families: dict[tuple[int, ...], list[dict[str, int]]] = {}
    for combination in itertools.product(*(ranges[index] for index in outer)):
        env = dict(zip(outer, combination, strict=True))
        if all(condition(when, {**values, **env}) for when in entry.when):
            key = tuple(env[index] for index in outer if index in shaping)
            families.setdefault(key, []).append(env)
    return [
        _family(entry, inner, ranges, envs, {index: envs[0][index] for index in outer if index in shaping})
        for envs in families.values()
    ]


def _range(loop: Loop, values: Mapping[str, object]) -> range:
    return range(number(loop.start, values), number(loop.stop, values))


def _shaping(entry: Entry) -> set[str]:
    """Indices that occur in the shape, or in the size of an axis of the group's own."""
    exprs: list[Expr] = [*entry.dims, *(axis.size for axis in entry.axes.values())]
    return set().union(*map(names, exprs)) & {loop.index for loop in entry.loops} if exprs else set()


def _family(
    entry: Entry, inner: list[Loop], ranges: Mapping[str, range], envs: list[dict[str, int]], env: dict[str, int]
) -> Names:
    selecting = {loop.axis: loop.index for loop in entry.loops if loop.axis}
    out: list[str] = []
    elements: dict[str, list[int]] = {axis: [] for axis in selecting}
    for outer in envs:
        for combination in itertools.product(*(ranges[loop.index] for loop in inner[:-1])):
            here = {**outer, **dict(zip((loop.index for loop in inner), combination, strict=False))}
            if not inner:
                out.append(entry.pattern.format_map(here))
                for axis, index in selecting.items():
                    elements[axis].append(here[index])
                continue
            last = inner[-1].index
            head, tail = entry.pattern.format_map({**here, last: "\0"}).split("\0")
            out += [f"{head}{i}{tail}" for i in ranges[last]]
            for axis, index in selecting.items():
                elements[axis] += ranges[last] if last == index else [here[index]] * len(ranges[last])
    return Names(entry, env, tuple(out), {axis: tuple(of) for axis, of in elements.items()})
