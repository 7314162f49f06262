"""The names of tensors that are alike."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import prod

from msgspec import Struct
from msgspec.structs import replace

from shardc.layout.expr import INDEX
from shardc.plan.grid import Grid, grid_of
from shardc.plan.resolved import Entry, FormatPart


def starred(pattern: str) -> str:
    """A name pattern with `*` for each index."""
    return INDEX.sub("*", pattern)


class Names(Struct, frozen=True, dict=True):
    """Names of one entry whose shape is the same. `env` holds the indices that the shape depends on.

    There is a name for each of `outer` and each combination of the `inner` ranges, the last running fastest; `only`
    picks some of them by position. They are written out when they are asked for.
    """

    entry: Entry
    env: Mapping[str, int]
    outer: tuple[Mapping[str, int], ...]
    inner: tuple[tuple[str, range], ...]
    only: tuple[int, ...] | None = None

    @property
    def count(self) -> int:
        """How many names there are."""
        return len(self.only) if self.only is not None else len(self.outer) * prod(len(r) for _, r in self.inner)

    @property
    def selecting(self) -> Mapping[str, str]:
        """The index of each axis that selects names (experts)."""
        return {loop.axis: loop.index for loop in self.entry.loops if loop.axis}

    @property
    def first(self) -> str:
        return self.entry.pattern.format_map(next(self._combinations())) if self.only is None else self.names[0]

    @cached_property
    def names(self) -> tuple[str, ...]:
        if self.only is not None:
            every = replace(self, only=None).names
            return tuple([every[i] for i in self.only])
        if not self.inner:
            return tuple([self.entry.pattern.format_map(env) for env in self.outer])
        out: list[str] = []
        last, numbers = self.inner[-1]
        for here in self._combinations(self.inner[:-1]):
            between = self.entry.pattern.format_map({**here, last: "\0"}).split("\0")
            out += [str(i).join(between) for i in numbers]
        return tuple(out)

    def of_part(self, part: FormatPart | None) -> tuple[str, ...]:
        """The names of a format's tensor for each of these weights; None stands for the weights themselves."""
        name = part.name if part is not None else ""
        if name not in self._of_parts:
            self._of_parts[name] = self.names if part is None else part.all_named(self.names)
        return self._of_parts[name]

    @cached_property
    def _of_parts(self) -> dict[str, tuple[str, ...]]:
        """What was asked for of parts, by the part's name: a checkpoint has 100,000s of names."""
        return {}

    @cached_property
    def elements(self) -> Mapping[str, tuple[int, ...]]:
        """For each axis that selects names, the element of each of them."""
        out = {}
        for axis, index in self.selecting.items():
            every = [here[index] for here in self._combinations()]
            out[axis] = tuple(every if self.only is None else [every[i] for i in self.only])
        return out

    @cached_property
    def grid(self) -> Grid | None:
        """The names as one grid; None where they are not one."""
        if self.only is not None or not self.outer:
            return None
        numbers: dict[str, Iterable[int]] = dict(self.inner)
        numbers |= {index: {env[index] for env in self.outer} for index in self.outer[0]}
        if prod(len(set(of)) for of in numbers.values()) != self.count:
            return None
        pieces = INDEX.split(self.entry.pattern)
        return grid_of(pieces[::2], [numbers[index] for index in pieces[1::2]])

    def picked(self, at: Sequence[int]) -> Names:
        """Those of the names that stand at these positions."""
        return replace(self, only=tuple(at if self.only is None else [self.only[i] for i in at]))

    def _combinations(self, inner: tuple[tuple[str, range], ...] | None = None) -> Iterator[Mapping[str, int]]:
        ranges = self.inner if inner is None else inner
        indices = [index for index, _ in ranges]
        for env in self.outer:
            for numbers in itertools.product(*(of for _, of in ranges)):
                yield {**env, **dict(zip(indices, numbers, strict=True))}
