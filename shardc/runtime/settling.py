"""The sizes in which checkpoints of one format differ: the headers decide, and before them the config."""

from __future__ import annotations

from functools import lru_cache
from math import gcd
from typing import NamedTuple

from shardc.runtime.arithmetic import ceil_div, is_whole_number
from shardc.runtime.config import MISSING, Config, look_up
from shardc.runtime.tensors import Dim, Format, Part

WHOLE = 0  # one group for all of a dim


class Facts(NamedTuple):
    """What a config says of a format's sizes and flags, in their order."""

    sizes: tuple[int, ...]
    flags: tuple[bool, ...]


class Extent(NamedTuple):
    """A weight's elements along its output and its input, and the dims in front of them."""

    out: int
    input: int
    leading: int

    def along(self, role: str) -> int:
        """Elements of one of the two."""
        return self.out if role == "out" else self.input


Shapes = tuple[tuple[int, ...] | None, ...]  # of each part in the file; None for one that it lacks


def facts_of(format: Format, config: Config) -> Facts:
    """The config's values, or the format's own. A size that is no positive number is one group for all."""
    sizes = []
    for paths, otherwise in format.sizes.values():
        found = [value for path in paths if is_whole_number(value := look_up(config, path))]
        sizes.append(max(found[0] if found else otherwise, WHOLE))
    flags = [
        any(look_up(config, path) not in (MISSING, False, "") for path in paths) for paths, _ in format.flags.values()
    ]
    return Facts(tuple(sizes), tuple(flags))


@lru_cache(maxsize=4096)
def settled_parts(format: Format, facts: Facts, extent: Extent, shapes: Shapes) -> tuple[Part, ...]:
    """The parts with their sizes in numbers, for a weight of this extent whose parts have these shapes in the file."""
    sizes = {
        name: settled_size(name, given, format, extent, shapes)
        for name, given in zip(format.sizes, facts.sizes, strict=True)
    }
    here = {part.name for part, shape in zip(format.parts, shapes, strict=True) if shape is not None}
    flags = {
        name: given or part in here for (name, (_, part)), given in zip(format.flags.items(), facts.flags, strict=True)
    }
    return tuple(
        Part(
            part.name,
            part.dtypes,
            tuple(settled_dim(dim, sizes, flags, extent) for dim in part.dims),
            part.optional,
            part.values,
        )
        for part in format.parts
    )


def settled_size(name: str, given: int, format: Format, extent: Extent, shapes: Shapes) -> int:
    """What the config gives, where the file's shapes agree; else what they imply."""
    for part, shape in zip(format.parts, shapes, strict=True):
        if shape is None or len(shape) != extent.leading + len(part.dims):
            continue
        for dim, found in zip(part.dims, shape[extent.leading :], strict=True):
            if dim.role is None or name not in (dim.unit, dim.entries):
                continue
            elements = extent.along(dim.role)
            if entries_of(settled_dim(dim, {name: given}, {}, extent), elements) == found:
                return given
            if dim.unit == name:
                if found == 1:
                    return WHOLE
                above, below = int(dim.entries) * elements, found
            else:
                above, below = int(dim.unit) * found, elements
            if below and above and above % below == 0:
                return above // below
    return given


def settled_dim(dim: Dim, sizes: dict[str, int], flags: dict[str, bool], extent: Extent) -> Dim:
    """A dim in numbers, unit and count without a common factor."""
    unit = sizes[dim.unit] if isinstance(dim.unit, str) else dim.unit
    count = sizes[dim.entries] if isinstance(dim.entries, str) else dim.entries
    whole = flags.get(dim.whole, False) if isinstance(dim.whole, str) else dim.whole
    if dim.role and unit == WHOLE:
        return dim._replace(unit=max(extent.along(dim.role), 1), entries=count, whole=True)
    shared = gcd(unit, count) if dim.role else 1
    return dim._replace(unit=unit // shared, entries=count // shared, whole=whole)


def entries_of(dim: Dim, elements: int) -> int | None:
    """How many entries stand for so many elements; None where units do not come out whole."""
    unit, count = int(dim.unit), int(dim.entries)
    if elements % unit and not dim.ceil:
        return None
    return ceil_div(elements, unit) * count
