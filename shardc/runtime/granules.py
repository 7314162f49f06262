"""The granule of each axis: what the formats in the file allow to be cut apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from math import gcd, lcm

from shardc.runtime.choices import Way
from shardc.runtime.cutting import Choices
from shardc.runtime.tensors import Family, Tensor


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
        if choice is None or (tensor.family, choice.way) in seen:
            continue
        seen.add((tensor.family, choice.way))
        units = units_by_dim(tensor.family, choice.way)
        for axis_name, dim, stride in tensor.family.units:
            for unit in units[dim]:
                found[axis_name] = lcm(found[axis_name], unit // gcd(unit, stride))
    return found


def units_by_dim(family: Family, way: Way) -> defaultdict[int, list[int]]:
    """The units of a weight's parts, by the dim of the weight that they cut."""
    units: defaultdict[int, list[int]] = defaultdict(list)
    for _, part, _ in way.parts:
        for dim in part.dims if part else ():
            if dim.role and not dim.whole:
                units[family.roles[dim.role]].append(int(dim.unit))
    return units
