"""A format with its sizes and flags as numbers: what the headers imply, else what the config says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import gcd

from shardc.layout.units import entries
from shardc.plan.evidence import Header
from shardc.plan.resolved import Format, FormatPart, PartDim

#: The header of a format's tensor for the weights at hand; None where the file lacks it.
HeaderOf = Callable[[FormatPart], Header | None]


@dataclass(frozen=True)
class Weight:
    """A weight as formats see it: elements of its `out` and `in` dims, and how many dims stand before them."""

    rows: Mapping[str, int]
    leads: int


def sized(format: Format, weight: Weight, config: Mapping[str, object], header_of: HeaderOf) -> Format:
    """The format as it stores this weight. A size that the headers contradict is what they imply, where they do."""
    if not format.sizes and not format.flags:
        return format
    sizes = {name: _size(name, format, weight, config, header_of) for name in format.sizes}
    flags = {name: _flag(name, format, config, header_of) for name in format.flags}
    parts = [
        replace(part, dims=tuple(_settled(dim, sizes, flags, weight) for dim in part.dims)) for part in format.parts
    ]
    return replace(format, parts=tuple(parts))


def _size(name: str, format: Format, weight: Weight, config: Mapping[str, object], header_of: HeaderOf) -> int:
    """0 stands for one group along all of the dim."""
    size = format.sizes[name]
    given = next((value for value in _facts(config, size.keys) if _is_number(value)), size.otherwise)
    assert isinstance(given, int)
    given = max(given, 0)  # -1 is one group, too
    for part, dim, i in _dims_with(name, format):
        header = header_of(part)
        if header is None or dim.role is None or len(header[1]) != weight.leads + len(part.dims):
            continue
        found, rows = header[1][weight.leads + i], weight.rows[dim.role]
        if _entries(_settled(dim, {name: given}, {}, weight), rows) == found:
            return given
        if found == 1 and dim.unit == name:
            return 0
        implied = _implied(dim, name, rows, found)
        if implied:
            return implied
    return given


def _flag(name: str, format: Format, config: Mapping[str, object], header_of: HeaderOf) -> bool:
    flag = format.flags[name]
    there = any(part.name == flag.part and header_of(part) is not None for part in format.parts)
    return there or any(value not in (False, None, "") for value in _facts(config, flag.keys))


def _facts(config: Mapping[str, object], keys: tuple[str, ...]) -> Iterator[object]:
    """The values at these dotted paths of config.json, those that are there."""
    for key in keys:
        here: object = config
        for step in key.split("."):
            here = here.get(step) if isinstance(here, Mapping) else None
        if here is not None:
            yield here


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _dims_with(name: str, format: Format) -> Iterator[tuple[FormatPart, PartDim, int]]:
    for part in format.parts:
        for i, dim in enumerate(part.dims):
            if name in (dim.unit, dim.count):
                yield part, dim, i


def _settled(dim: PartDim, sizes: Mapping[str, int], flags: Mapping[str, bool], weight: Weight) -> PartDim:
    """The dim in numbers, its ratio in lowest terms."""
    unit = sizes[dim.unit] if isinstance(dim.unit, str) else dim.unit
    count = sizes[dim.count] if isinstance(dim.count, str) else dim.count
    whole = flags.get(dim.whole, False) if isinstance(dim.whole, str) else dim.whole
    if dim.role is None:
        return replace(dim, unit=unit, count=count, whole=whole)
    if unit == 0:
        return replace(dim, unit=max(weight.rows[dim.role], 1), count=count, whole=True)
    shared = gcd(unit, count)
    return replace(dim, unit=unit // shared, count=count // shared, whole=whole)


def _entries(dim: PartDim, rows: int) -> int | None:
    assert isinstance(dim.unit, int) and isinstance(dim.count, int)
    return None if rows % dim.unit and not dim.ceil else entries((rows,), dim.unit, dim.count, dim.ceil)


def _implied(dim: PartDim, name: str, rows: int, found: int) -> int | None:
    """The size that makes `found` entries of so many rows; None where no whole number does."""
    if dim.unit == name:
        above, below = (dim.count * rows if isinstance(dim.count, int) else 0), found
    else:
        above, below = (dim.unit * found if isinstance(dim.unit, int) else 0), rows
    return above // below if below and above and above % below == 0 else None
