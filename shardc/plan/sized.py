"""A format with its sizes and flags as numbers: what the headers imply, else what the config says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from math import gcd

from msgspec import Struct
from msgspec.structs import replace

from shardc.layout.units import entries
from shardc.plan.evidence import Header
from shardc.plan.resolved import Entry, Format, FormatFlag, FormatPart, FormatSize, PartDim

#: The header of a format's tensor for the weights at hand, or (None) of the weights under their own names; None where
#: the file lacks it.
HeaderOf = Callable[[FormatPart | None], Header | None]
#: The size of a group that is all of a dim: configs write -1.
_WHOLE = 0


class Weight(Struct, frozen=True):
    """A weight as formats see it: elements of its `out` and `in` dims, and how many dims stand before them."""

    rows: Mapping[str, int]
    leads: int


def weight_of(entry: Entry, shape: tuple[int, ...]) -> Weight:
    """An entry's weight of this full shape, in elements."""
    dims = {"out": entry.out_dim, "in": entry.in_dim}
    return Weight({role: shape[dim] for role, dim in dims.items() if dim is not None}, entry.leads)


def sized(format: Format, weight: Weight, config: Mapping[str, object], header_of: HeaderOf) -> Format:
    """The format as it stores this weight. Where the headers contradict the config, the sizes are what they imply."""
    if not format.sizes and not format.flags:
        return format
    given = {size.name: _given(size, config) for size in format.sizes}
    found = {name: _found(name, size, format, weight, header_of) for name, size in given.items()}
    sizes = given if _is_cut(format, given, found) else found
    flags = {flag.name: _is_set(flag, format, config, header_of) for flag in format.flags}
    parts = [replace(part, dims=tuple(_settled(dim, sizes, flags) for dim in part.dims)) for part in format.parts]
    return replace(format, parts=tuple(parts))


def fits(part: FormatPart, weight: Weight, header: Header) -> bool:
    """Whether a header has a part's dtype and number of dims; a scalar may be written [1]."""
    dtype, shape = header
    dims = len(shape) == weight.leads + len(part.dims) if part.dims else shape in ((), (1,))
    return dtype in part.dtypes and dims


def fits_exactly(part: FormatPart, weight: Weight, header: Header) -> bool:
    """Whether a header has a sized part's sizes, too."""
    sizes = tuple(_entries(dim, weight) for dim in part.dims)
    return fits(part, weight, header) and (not sizes or header[1][weight.leads :] == sizes)


def is_complete(
    format: Format, weight: Weight, header_of: HeaderOf, fit: Callable[[FormatPart, Weight, Header], bool]
) -> bool:
    """Whether all tensors of a sized format are there, and fit; optional ones may be absent."""
    found = ((part, header_of(part)) for part in format.parts)
    return all(fit(part, weight, header) if header else part.optional for part, header in found)


def _given(size: FormatSize, config: Mapping[str, object]) -> int:
    numbers = (value for value in _facts(config, size.keys) if isinstance(value, int) and not isinstance(value, bool))
    return max(next(numbers, size.otherwise), _WHOLE)


def _found(name: str, given: int, format: Format, weight: Weight, header_of: HeaderOf) -> int:
    """The size that the first header with a say implies."""
    for part, dim, i in _dims_with(name, format):
        header = header_of(part)
        if header is None or len(header[1]) != weight.leads + len(part.dims):
            continue
        found = header[1][weight.leads + i]
        if _entries(_settled(dim, {name: given}, {}), weight) == found:
            return given
        if found == 1 and dim.unit == name:
            return _WHOLE
        implied = _implied(dim, name, weight, found)
        if implied:
            return implied
    return given


def _is_cut(format: Format, given: Mapping[str, int], found: Mapping[str, int]) -> bool:
    """Whether the headers are those of a weight in the given sizes, of which the file has a part of the input.

    Half of a row of 4 bits in groups of 64 has the shapes of a whole row of 2 bits in groups of 128.
    """
    along = [dim for part in format.parts for dim in part.dims if dim.role == "in"]
    packed, grouped = {dim.count for dim in along}, {dim.unit for dim in along}
    ratios: set[Fraction] = set()
    for name in given:
        if name not in packed | grouped:
            return False
        above, below = (given[name], found[name]) if name in packed else (found[name], given[name])
        if above or below:
            ratios.add(Fraction(above, below) if below else Fraction(0))
    return len(ratios) == 1 and max(ratios) > 1


def _is_set(flag: FormatFlag, format: Format, config: Mapping[str, object], header_of: HeaderOf) -> bool:
    there = any(part.name == flag.part and header_of(part) is not None for part in format.parts)
    return there or any(value not in (False, "") for value in _facts(config, flag.keys))


def _facts(config: Mapping[str, object], keys: tuple[str, ...]) -> Iterator[object]:
    """The values at these dotted paths of config.json, those that are there and not null."""
    for key in keys:
        here: object = config
        for step in key.split("."):
            here = here.get(step) if isinstance(here, Mapping) else None
        if here is not None:
            yield here


def _dims_with(name: str, format: Format) -> Iterator[tuple[FormatPart, PartDim, int]]:
    for part in format.parts:
        for i, dim in enumerate(part.dims):
            if name in (dim.unit, dim.count):
                yield part, dim, i


def _settled(dim: PartDim, sizes: Mapping[str, int], flags: Mapping[str, bool]) -> PartDim:
    """The dim in numbers, its ratio in lowest terms."""
    unit = sizes[dim.unit] if isinstance(dim.unit, str) else dim.unit
    count = sizes[dim.count] if isinstance(dim.count, str) else dim.count
    whole = flags.get(dim.whole, False) if isinstance(dim.whole, str) else dim.whole
    if dim.role is None or unit == _WHOLE:
        return PartDim(None, 1, count=count)
    shared = gcd(unit, count)
    return replace(dim, unit=unit // shared, count=count // shared, whole=whole)


def _entries(dim: PartDim, weight: Weight) -> int | None:
    """How many entries a dim in numbers has; None where units do not come out whole."""
    assert isinstance(dim.unit, int) and isinstance(dim.count, int)
    if dim.role is None:
        return dim.count
    rows = weight.rows[dim.role]
    return None if rows % dim.unit and not dim.ceil else entries((rows,), dim.unit, dim.count, dim.ceil)


def _implied(dim: PartDim, name: str, weight: Weight, found: int) -> int | None:
    """The size that makes `found` entries of the weight's rows; None where no whole number does."""
    rows = weight.rows[dim.role or ""]
    if dim.unit == name:
        above, below = (dim.count * rows if isinstance(dim.count, int) else 0), found
    else:
        above, below = (dim.unit * found if isinstance(dim.unit, int) else 0), rows
    return above // below if below and above and above % below == 0 else None
