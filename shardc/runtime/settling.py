"""The sizes in which checkpoints of one format differ: the headers decide, and before them the config."""

from __future__ import annotations

from functools import lru_cache
from math import gcd
from typing import NamedTuple

from shardc.runtime.arithmetic import ceil_div, is_whole_number
from shardc.runtime.config import MISSING, Config, look_up
from shardc.runtime.tensors import Dim, Format, Part

WHOLE = 0  # the size of a group that is all of a dim: configs write -1


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
    given_sizes = dict(zip(format.sizes, facts.sizes, strict=True))
    sizes = {name: settled_size(name, given, format, extent, shapes) for name, given in given_sizes.items()}
    if looks_cut(format, given_sizes, sizes):
        sizes = given_sizes
    here = {part.name for part, shape in zip(format.parts, shapes, strict=True) if shape is not None}
    flags = {
        name: given or part in here for (name, (_, part)), given in zip(format.flags.items(), facts.flags, strict=True)
    }
    return tuple(
        Part(
            part.name,
            part.dtypes,
            tuple(settled_dim(dim, sizes, flags) for dim in part.dims),
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
            if entries_of(settled_dim(dim, {name: given}, {}), extent) == found:
                return given
            elements = extent.along(dim.role)
            if dim.unit == name:
                if found == 1:
                    return WHOLE
                above, below = int(dim.entries) * elements, found
            else:
                above, below = int(dim.unit) * found, elements
            if below and above and above % below == 0:
                return above // below
    return given


def looks_cut(format: Format, given: dict[str, int], found: dict[str, int]) -> bool:
    """True where a file has half (or less) of each row of a weight in the given sizes.

    Its shapes are then those of whole rows with half the bits, in groups of twice as many elements.
    """
    along = [dim for part in format.parts for dim in part.dims if dim.role == "in"]
    packed, grouped = [dim.entries for dim in along], [dim.unit for dim in along]
    if any(name not in packed and name not in grouped for name in given):
        return False  # packed along the output: the other dim tells
    shares = set()
    for name in given:
        more, less = (given[name], found[name]) if name in packed else (found[name], given[name])
        if more or less:
            shares.add(more / less if less else 0.0)
    return len(shares) == 1 and shares.pop() > 1


def settled_dim(dim: Dim, sizes: dict[str, int], flags: dict[str, bool]) -> Dim:
    """A dim in numbers, unit and count without a common factor; one group for all is a dim of its own size."""
    unit = sizes[dim.unit] if isinstance(dim.unit, str) else dim.unit
    count = sizes[dim.entries] if isinstance(dim.entries, str) else dim.entries
    whole = flags.get(dim.whole, False) if isinstance(dim.whole, str) else dim.whole
    if dim.role is None or unit == WHOLE:
        return Dim(None, entries=count)
    shared = gcd(unit, count)
    return dim._replace(unit=unit // shared, entries=count // shared, whole=whole)


def shape_of(part: Part, extent: Extent) -> tuple[int | None, ...]:
    """The sizes of a settled part's own dims; None for one whose units do not come out whole."""
    return tuple(entries_of(dim, extent) for dim in part.dims)


def entries_of(dim: Dim, extent: Extent) -> int | None:
    """How many entries a settled dim has; None where its units do not come out whole."""
    unit, count = int(dim.unit), int(dim.entries)
    if dim.role is None:
        return count
    elements = extent.along(dim.role)
    return ceil_div(elements, unit) * count if dim.ceil or elements % unit == 0 else None
