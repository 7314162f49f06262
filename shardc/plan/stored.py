"""How the tensors of a family are stored: which format, which dtypes. The file's headers decide, never its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial

from shardc.plan.evidence import Grids, Header
from shardc.plan.grid import Grid
from shardc.plan.names import Names
from shardc.plan.resolved import Entry, Format, FormatPart
from shardc.plan.sized import Weight, sized


@dataclass(frozen=True)
class StoredPart:
    """One tensor of a family's format: the file's dtype, and the dtype it loads as.

    `header` is the file's, where all of the names are there and have that one.
    """

    part: FormatPart | None
    weights: Names
    dtype: str
    load: str
    header: Header | None = None

    @property
    def count(self) -> int:
        return self.weights.count

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Its names, beside those of the weights."""
        return self.weights.names if self.part is None else self.part.all_named(self.weights.names)

    @property
    def first(self) -> str:
        """The first of its names."""
        first = self.weights.first
        return first if self.part is None else self.part.named(first)

    @property
    def grid(self) -> Grid | None:
        return part_grid(self.weights, self.part)


@dataclass(frozen=True)
class Stored:
    """Names of one entry with one shape, one format and one set of dtypes."""

    family: Names
    format: Format
    parts: tuple[StoredPart, ...]


@dataclass(frozen=True)
class Storage:
    """What decides how weights are stored: their sizes as formats see them, config.json, and headers, if any."""

    weight: Weight
    config: Mapping[str, object]
    headers: Mapping[str, Header] | None
    grids: Grids | None = None


def stored(family: Names, storage: Storage) -> list[Stored]:
    """The family by the ways its tensors are stored. Without headers, as the first format it lists.

    Names that the headers lack take the format of the others; what is missing is for coverage to report.
    """
    headers = storage.headers
    if headers is None:
        first = sized(family.entry.formats[0], storage.weight, storage.config, lambda part: None)
        return [_as(family, first, _first_dtypes(family, first))]
    alike = _all_alike(family, storage, cache(partial(_by_grid, family, storage.grids))) if storage.grids else None
    alike = alike or _all_alike(family, storage, cache(partial(_by_name, family, headers)))
    return [alike] if alike is not None else _one_by_one(family, storage, headers)


def part_grid(weights: Names, part: FormatPart | None) -> Grid | None:
    grid = weights.grid
    return grid if grid is None or part is None else grid.renamed(part.named)


class _Mixed(Exception):
    """Tensors of one family that are not all alike, or that can't be told to be."""


#: The header of the weights themselves (None) or of a part; None where it is absent.
_HeaderOf = Callable[[FormatPart | None], Header | None]


def _all_alike(family: Names, storage: Storage, header_of: _HeaderOf) -> Stored | None:
    """The common case: all tensors of the family are there, with one header for each part.

    `header_of` gives the header that all of a part's tensors have, None if all are absent, and raises _Mixed otherwise.
    """
    try:
        format = choose(family.entry, storage.weight.leads, header_of)
        format = sized(format, storage.weight, storage.config, header_of)
        main = header_of(None)
        found = [(part, header_of(part)) for part in format.parts]
    except _Mixed:
        return None
    if not format.parts:
        return _dense(family, format, main) if main is not None else None
    if any(header is None and not part.optional for part, header in found):
        return None
    parts = [StoredPart(part, family, header[0], header[0], header) for part, header in found if header is not None]
    return Stored(family, format, tuple(parts))


def _dense(family: Names, dense: Format, header: Header) -> Stored:
    part = StoredPart(None, family, header[0], family.entry.load or header[0], header)
    return Stored(family, dense, (part,))


def _by_grid(family: Names, grids: Grids, part: FormatPart | None) -> Header | None:
    """From a table's grids, without a name being written out."""
    grid = part_grid(family, part)
    if grid is None:
        raise _Mixed
    holder = grids.holder(grid)
    if holder is None and grid.template in grids.by_template:
        raise _Mixed
    return None if holder is None else grids.headers[holder]


def _by_name(family: Names, headers: Mapping[str, Header], part: FormatPart | None) -> Header | None:
    names = family.names if part is None else part.all_named(family.names)
    header = headers.get(names[0])
    if {id(header)} != set(map(id, map(headers.get, names))):
        raise _Mixed
    return header


def choose(entry: Entry, leads: int, header_of: _HeaderOf) -> Format:
    """The first listed format whose first tensor has its dtype and whose required companions are there and fit.

    Where none fits, the one that its companions point to, or that the dtype alone fits, or the first: what is wrong
    is then for coverage to report.
    """
    if len(entry.formats) == 1:
        return entry.formats[0]

    def begins(format: Format) -> bool:
        header = header_of(format.parts[0] if format.parts else None)
        return header is not None and header[0] in (format.parts[0].dtypes if format.parts else entry.dtypes)

    def is_complete(format: Format) -> bool:
        found = ((part, header_of(part)) for part in format.parts)
        return all(_fits(part, leads, header) if header else part.optional for part, header in found)

    fitting = [format for format in entry.formats if begins(format)]
    complete = [format for format in fitting if is_complete(format)]
    pointed = [format for format in entry.formats if any(header_of(part) for part in format.parts[1:])]
    likely = [format for format in pointed if format in fitting]
    return (complete or likely or pointed or fitting or list(entry.formats))[0]


def _fits(part: FormatPart, leads: int, header: Header) -> bool:
    """Whether a header may be the part's: its dtype, and as many dims; a scalar may be written [1]."""
    dtype, shape = header
    dims = len(shape) == leads + len(part.dims) if part.dims else shape in ((), (1,))
    return dtype in part.dtypes and dims


def _one_by_one(family: Names, storage: Storage, headers: Mapping[str, Header]) -> list[Stored]:
    """Tensors that differ: those with the same headers, the same way."""
    entry = family.entry
    parts: dict[str | None, FormatPart | None] = {None: None}
    parts |= {part.name: part for format in entry.formats for part in format.parts}
    columns = [
        map(headers.get, family.names if part is None else part.all_named(family.names)) for part in parts.values()
    ]
    groups: dict[tuple[Header | None, ...], list[int]] = {}
    for i, key in enumerate(zip(*columns, strict=True)):
        groups.setdefault(key, []).append(i)
    ways: dict[tuple[Format, tuple[str | None, ...]], list[int]] = {}
    present = next((key for key in groups if any(key)), (None,) * len(parts))
    for key, at in groups.items():
        here = dict(zip(parts, key if any(key) else present, strict=True))
        format = _format_of(entry, storage, here)
        row = tuple(_dtype_of(part, here, groups, list(parts)) for part in format.parts)
        if not format.parts:
            row = (((main := here[None]) and main[0]) or entry.dtypes[0],)
        ways.setdefault((format, row), []).extend(at)
    if len(ways) == 1:
        return [_as(family, format, row) for format, row in ways]
    return [_as(family.picked(sorted(at)), format, row) for (format, row), at in ways.items()]


def _format_of(entry: Entry, storage: Storage, here: Mapping[str | None, Header | None]) -> Format:
    def header_of(part: FormatPart | None) -> Header | None:
        return here.get(part.name if part else None)

    format = choose(entry, storage.weight.leads, header_of)
    return sized(format, storage.weight, storage.config, header_of)


def _dtype_of(
    part: FormatPart,
    here: Mapping[str | None, Header | None],
    groups: Iterable[tuple[Header | None, ...]],
    names: list[str | None],
) -> str | None:
    """The dtype of a part here; where a required one is absent, the dtype that others have."""
    header = here[part.name]
    if header is not None or part.optional:
        return header[0] if header else None
    others = (key[names.index(part.name)] for key in groups)
    return next((other[0] for other in others if other), part.dtypes[0])


def _first_dtypes(family: Names, format: Format) -> tuple[str | None, ...]:
    if not format.parts:
        return (family.entry.dtypes[0],)
    return tuple(None if part.optional else part.dtypes[0] for part in format.parts)


def _as(family: Names, format: Format, dtypes: tuple[str | None, ...]) -> Stored:
    if not format.parts:
        dtype = dtypes[0] or family.entry.dtypes[0]
        return Stored(family, format, (StoredPart(None, family, dtype, family.entry.load or dtype),))
    parts = []
    for part, found in zip(format.parts, dtypes, strict=True):
        if found is not None:
            parts.append(StoredPart(part, family, found, found))
    return Stored(family, format, tuple(parts))
