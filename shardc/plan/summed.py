"""Outputs that are summed over the ranks of an axis: which axes those are, and the biases that are added once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from shardc.layout.split import Split
from shardc.plan.kinds import REDUCED, axes_in, words_of
from shardc.plan.resolved import Axis, Entry

#: What a bias is called beside its weight: `o_proj.bias`, or `down_proj_bias` beside `down_proj`.
_BESIDE = ((".bias", ".weight"), ("_bias", ""))


def summed_axes(entries: Iterable[Entry], axes: Mapping[str, Axis]) -> dict[str, str]:
    """By the pattern of each `rank0` bias, the axis that splits the input of the weight beside it, if there is one."""
    every = list(entries)
    weights = {entry.pattern: entry for entry in every if any(word in REDUCED for word in words_of(entry.derived))}
    found = {}
    for bias in every:
        axis = _summed_axis(bias.pattern, weights, {**axes, **bias.axes}) if bias.rank0_dim is not None else None
        if axis is not None:
            found[bias.pattern] = axis
    return found


def is_whole(split: Split) -> bool:
    """Whether every rank has all of the axis, so that each works out the whole sum alone."""
    return all((share.start, share.stop) == (0, split.size) for share in split.shares)


def inputs_of(entry: Entry, axes: Mapping[str, Axis]) -> list[str]:
    """The axes that split the input of a layer whose output is summed over their ranks; none for other tensors."""
    if entry.in_dim is None or not any(word in REDUCED for word in words_of(entry.kind)):
        return []
    return axes_in(entry.dims[entry.in_dim], axes)


def _summed_axis(bias: str, weights: Mapping[str, Entry], axes: Mapping[str, Axis]) -> str | None:
    for ending, instead in _BESIDE:
        weight = weights.get(bias.removesuffix(ending) + instead) if bias.endswith(ending) else None
        if weight is not None and weight.in_dim is not None:
            return next(iter(axes_in(weight.dims[weight.in_dim], axes)), None)
    return None
