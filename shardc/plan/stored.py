"""How the tensors of a family are stored: which format, which dtypes. The file's headers decide, never its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial

from msgspec import Struct

from shardc.plan.evidence import Grids, Header
from shardc.plan.grid import Grid
from shardc.plan.names import Names
from shardc.plan.resolved import Entry, Format, FormatPart
from shardc.plan.sized import HeaderOf, Weight, fits, fits_exactly, is_complete, sized


class StoredPart(Struct, frozen=True):
    """One tensor of a family's format: the file's dtype, and the dtype it loads as.

    `header` is the file's, where all of the names are there and have that one. `scalar` is how the file writes a
    scalar, [] or [1].
    """

    part: FormatPart | None
    weights: Names
    dtype: str
    load: str
    header: Header | None = None
    scalar: tuple[int, ...] = ()

    @property
    def count(self) -> int:
        return self.weights.count

    @property
    def kind(self) -> str:
        """The shard kind of the tensor; a scalar of a format is whole on every rank."""
        return "replicated" if self.part and self.is_scalar else self.weights.entry.kind

    @property
    def is_scalar(self) -> bool:
        return not (self.part.dims if self.part else self.weights.entry.dims)

    @property
    def names(self) -> tuple[str, ...]:
        """Its names, beside those of the weights."""
        return self.weights.of_part(self.part)

    @property
    def first(self) -> str:
        """The first of its names."""
        first = self.weights.first
        return first if self.part is None else self.part.named(first)

    @property
    def grid(self) -> Grid | None:
        return part_grid(self.weights, self.part)


class Stored(Struct, frozen=True):
    """Names of one entry with one shape, one format and one set of dtypes."""

    family: Names
    format: Format
    parts: tuple[StoredPart, ...]


class Storage(Struct, frozen=True):
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
        return [_first_way(family, storage)]
    alike = _all_alike(family, storage, cache(partial(_by_grid, family, storage.grids))) if storage.grids else None
    alike = alike or _all_alike(family, storage, _by_name(family, headers))
    return [alike] if alike is not None else _one_by_one(family, storage, headers)


def part_grid(weights: Names, part: FormatPart | None) -> Grid | None:
    grid = weights.grid
    return grid if grid is None or part is None else grid.renamed(part.named)


class _Mixed(Exception):
    """Tensors of one family that are not all alike, or that can't be told to be."""


def _all_alike(family: Names, storage: Storage, header_of: HeaderOf) -> Stored | None:
    """The common case: all tensors of the family are there, with one header for each part.

    `header_of` gives the header that all of a part's tensors have, None if all are absent, and raises _Mixed otherwise.
    """
    try:
        format = choose(family.entry, storage, header_of)
        found = [header_of(part) for part in format.parts or (None,)]
    except _Mixed:
        return None
    if any(header is None and _needed(part) for part, header in zip(format.parts or (None,), found, strict=True)):
        return None
    return _as(family, format, tuple(map(_kind, found)), found)


def _by_grid(family: Names, grids: Grids, part: FormatPart | None) -> Header | None:
    """From a table's grids, without a name being written out."""
    grid = part_grid(family, part)
    if grid is None:
        raise _Mixed
    holder = grids.holder(grid)
    if holder is None and grid.template in grids.by_template:
        raise _Mixed
    return None if holder is None else grids.headers[holder]


def _by_name(family: Names, headers: Mapping[str, Header]) -> HeaderOf:
    @cache
    def header_of(names: tuple[str, ...]) -> Header | None:
        header = headers.get(names[0])
        if {id(header)} != set(map(id, map(headers.get, names))):
            raise _Mixed
        return header

    return lambda part: header_of(family.of_part(part))


def choose(entry: Entry, storage: Storage, header_of: HeaderOf) -> Format:
    """The first listed format whose tensors are all there, best with their sizes right; as it stores this weight.

    Where none is, the one that its companions point to, or that the first tensor's dtype fits, or the first: what is
    wrong is then for coverage to report.
    """
    weight = storage.weight

    def settled(format: Format) -> Format:
        return sized(format, weight, storage.config, header_of)

    def begins(format: Format) -> bool:
        header = header_of(format.parts[0] if format.parts else None)
        return header is not None and header[0] in (format.parts[0].dtypes if format.parts else entry.dtypes)

    if len(entry.formats) == 1:
        return settled(entry.formats[0])
    fitting = [format for format in entry.formats if begins(format)]
    complete = [one for one in map(settled, fitting) if is_complete(one, weight, header_of, fits)]
    if complete:
        return next((one for one in complete if is_complete(one, weight, header_of, fits_exactly)), complete[0])
    pointed = [format for format in entry.formats if any(header_of(part) for part in format.parts[1:])]
    likely = [format for format in pointed if format in fitting]
    return settled((likely or pointed or fitting or list(entry.formats))[0])


def _one_by_one(family: Names, storage: Storage, headers: Mapping[str, Header]) -> list[Stored]:
    """Tensors that differ: those with the same headers, the same way."""
    parts: dict[str | None, FormatPart | None] = {None: None}
    parts |= {part.name: part for format in family.entry.formats for part in format.parts}
    columns = [map(headers.get, family.of_part(part)) for part in parts.values()]
    groups: dict[tuple[Header | None, ...], list[int]] = {}
    for i, key in enumerate(zip(*columns, strict=True)):
        groups.setdefault(key, []).append(i)
    first = next((key for key in groups if any(key)), (None,) * len(parts))
    elsewhere = {name: next(filter(None, of), None) for name, of in zip(parts, zip(*groups, strict=True), strict=True)}
    ways: dict[tuple[Format, tuple[_Kind | None, ...]], list[int]] = {}
    for key, at in groups.items():
        here = dict(zip(parts, key if any(key) else first, strict=True))
        format = choose(family.entry, storage, partial(_in_row, here))
        found = [
            _in_row(here, part) or (_in_row(elsewhere, part) if _needed(part) else None)
            for part in format.parts or (None,)
        ]
        row = tuple(map(_kind, found))
        ways.setdefault((format, row), []).extend(at)
    if len(ways) == 1:
        return [_as(family, format, row) for format, row in ways]
    return [_as(family.picked(sorted(at)), format, row) for (format, row), at in ways.items()]


def _in_row(row: Mapping[str | None, Header | None], part: FormatPart | None) -> Header | None:
    return row[part.name if part else None]


def _needed(part: FormatPart | None) -> bool:
    return part is None or not part.optional


#: A dtype in the file, and its shape if it is a scalar written [1].
_Kind = tuple[str, tuple[int, ...]]


def _kind(header: Header | None) -> _Kind | None:
    return (header[0], (1,) if header[1] == (1,) else ()) if header else None


def _first_way(family: Names, storage: Storage) -> Stored:
    """As if the file were yet to be written: each tensor in its first dtype, optional ones absent."""
    first = sized(family.entry.formats[0], storage.weight, storage.config, lambda part: None)
    return _as(family, first, [None] * max(len(first.parts), 1))


def _as(family: Names, format: Format, kinds: Sequence[_Kind | None], headers: Sequence[Header | None] = ()) -> Stored:
    """Absent tensors (None) are left out; a required one has the first dtype there is for it."""
    entry = family.entry
    parts = []
    for i, part in enumerate(format.parts or (None,)):
        kind = kinds[i]
        if kind is None and _needed(part):
            kind = (part.dtypes[0] if part else entry.dtypes[0]), ()
        if kind is None:
            continue
        dtype, scalar = kind
        load = entry.load if part is None and entry.load else dtype
        parts.append(StoredPart(part, family, dtype, load, headers[i] if headers else None, scalar))
    return Stored(family, format, tuple(parts))
