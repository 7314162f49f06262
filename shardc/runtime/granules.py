"""The granule of each axis: what the formats in the file allow to be cut apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from math import gcd, lcm

from shardc.runtime.choices import Choice
from shardc.runtime.cutting import Choices
from shardc.runtime.tensors import Tensor


def no_granules() -> defaultdict[str, int]:
    """One element for every axis."""
    return defaultdict(lambda: 1)


def granules(tensors: Iterable[Tensor], choices: Choices) -> defaultdict[str, int]:
    """Elements of each axis that may not be cut apart: the lcm over every tensor that mentions it.

    A part's unit of 128 rows is one element of an axis that strides 128 rows, and two of one that strides 64.
    """
    found = no_granules()
    seen = set()
    for tensor in tensors:
        choice = choices[tensor.name]
        if choice is None or not tensor.units:
            continue
        alike = (tensor.units, len(tensor.shape), tensor.swapped, tuple(id(stored.part) for stored in choice.stored))
        if alike in seen:
            continue
        seen.add(alike)
        units = units_by_dim(tensor, choice)
        for axis_name, dim, stride in tensor.units:
            for unit in units[dim]:
                found[axis_name] = lcm(found[axis_name], unit // gcd(unit, stride))
    return found


def units_by_dim(tensor: Tensor, choice: Choice) -> defaultdict[int, list[int]]:
    """The units of a tensor's parts, by the dim of the tensor that they cut."""
    units: defaultdict[int, list[int]] = defaultdict(list)
    for stored in choice.stored:
        for dim in stored.part.dims if stored.part else ():
            if dim.role and not dim.whole:
                units[tensor.roles[dim.role]].append(int(dim.unit))
    return units
