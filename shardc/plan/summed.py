"""Outputs that are summed over the ranks of an axis: which axes those are, and the biases that are added once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from shardc.layout.split import Split
from shardc.plan.kinds import REDUCED, axes_in, words_of
from shardc.plan.resolved import Axis, Entry

#: What a bias is called beside its weight: `o_proj.bias`, or `down_proj_bias` beside `down_proj`.
_BESIDE = ((".bias", ".weight"), ("_bias", ""))


def beside(bias: str) -> list[str]:
    """The patterns that the weight of a bias may have; none for a name that is no bias's."""
    return [bias.removesuffix(ending) + instead for ending, instead in _BESIDE if bias.endswith(ending)]


class Sum(Struct, frozen=True):
    """The weight that a bias stands beside, and the axis that splits its input: its output is summed over the ranks."""

    weight: str
    axis: str


def biases_of_sums(entries: Iterable[Entry], axes: Mapping[str, Axis]) -> dict[str, Sum]:
    """By its pattern, each bias beside a weight whose output is summed."""
    every = list(entries)
    weights = {entry.pattern: entry for entry in every if any(word in REDUCED for word in words_of(entry.derived))}
    found = {bias.pattern: _sum_beside(bias.pattern, weights, {**axes, **bias.axes}) for bias in every}
    return {pattern: one for pattern, one in found.items() if one is not None}


def summed_axes(entries: Iterable[Entry], axes: Mapping[str, Axis]) -> dict[str, str]:
    """By the pattern of each `rank0` bias, the axis that splits the input of the weight beside it, if there is one."""
    every = list(entries)
    rank0 = {entry.pattern for entry in every if entry.rank0_dim is not None}
    return {pattern: one.axis for pattern, one in biases_of_sums(every, axes).items() if pattern in rank0}


def is_whole(split: Split) -> bool:
    """Whether every rank has all of the axis, so that each works out the whole sum alone."""
    return all((share.start, share.stop) == (0, split.size) for share in split.shares)


def inputs_of(entry: Entry, axes: Mapping[str, Axis]) -> list[str]:
    """The axes that split the input of a layer whose output is summed over their ranks; none for other tensors."""
    if entry.in_dim is None or not any(word in REDUCED for word in words_of(entry.kind)):
        return []
    return axes_in(entry.dims[entry.in_dim], axes)


def _sum_beside(bias: str, weights: Mapping[str, Entry], axes: Mapping[str, Axis]) -> Sum | None:
    for pattern in beside(bias):
        weight = weights.get(pattern)
        if weight is not None and weight.in_dim is not None:
            split = axes_in(weight.dims[weight.in_dim], axes)
            return Sum(weight.pattern, split[0]) if split else None
    return None
