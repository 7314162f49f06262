"""How the tensors of a family are stored: which format, which dtypes. The file's headers decide, never its name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial

from shardc.plan.evidence import Grids, Header
from shardc.plan.grid import Grid
from shardc.plan.names import Names
from shardc.plan.resolved import Entry, Format, FormatPart


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


def stored(family: Names, headers: Mapping[str, Header] | None, grids: Grids | None = None) -> list[Stored]:
    """The family by the ways its tensors are stored. Without headers, as the first format it lists.

    Names that the headers lack take the format of the others; what is missing is for coverage to report.
    """
    if headers is None:
        first = family.entry.formats[0]
        return [_as(family, first, _first_dtypes(family, first))]
    alike = _all_alike(family, cache(partial(_by_grid, family, grids))) if grids else None
    alike = alike or _all_alike(family, cache(partial(_by_name, family, headers)))
    if alike is not None:
        return [alike]
    keys: dict[tuple[str, tuple[str | None, ...]], list[int]] = {}
    for format, rows in _signatures(family, headers):
        for i, row in rows:
            keys.setdefault((format.name, row), []).append(i)
    by_name = {format.name: format for format in family.entry.formats}
    if len(keys) <= 1:
        return [_as(family, by_name[name], row) for name, row in keys]
    return [_as(family.picked(at), by_name[name], row) for (name, row), at in keys.items()]


def part_grid(weights: Names, part: FormatPart | None) -> Grid | None:
    grid = weights.grid
    return grid if grid is None or part is None else grid.renamed(part.named)


class _Mixed(Exception):
    """Tensors of one family that are not all alike, or that can't be told to be."""


def _all_alike(family: Names, header_of: Callable[[FormatPart | None], Header | None]) -> Stored | None:
    """The common case: all tensors of the family are there, with one header for each part.

    `header_of` gives the header that all of a part's tensors have, None if all are absent, and raises _Mixed otherwise.
    """
    try:
        main = header_of(None)
        if main is None:
            return None
        format = choose(family.entry, main[0], lambda part: header_of(part) is not None)
        if not format.parts:
            return Stored(family, format, (StoredPart(None, family, main[0], family.entry.load or main[0], main),))
        found = [(part, header_of(part)) for part in format.parts]
    except _Mixed:
        return None
    if any(header is None and not part.optional for part, header in found):
        return None
    parts = [StoredPart(part, family, header[0], header[0], header) for part, header in found if header is not None]
    return Stored(family, format, tuple(parts))


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


def choose(entry: Entry, dtype: str | None, has: Callable[[FormatPart], bool]) -> Format:
    """The first listed format whose first tensor has this dtype and whose required companions are there.

    Where none fits, the one that its companions point to, or that the dtype alone fits, or the first: what is wrong
    is then for coverage to report.
    """
    fitting = [f for f in entry.formats if dtype in (f.parts[0].dtypes if f.parts else entry.dtypes)]
    complete = [f for f in fitting if all(part.optional or has(part) for part in f.parts)]
    pointed = [f for f in entry.formats if any(has(part) for part in f.parts[1:])]
    return (complete or pointed or fitting or list(entry.formats))[0]


def _signatures(
    family: Names, headers: Mapping[str, Header]
) -> Iterator[tuple[Format, Iterator[tuple[int, tuple[str | None, ...]]]]]:
    """For each format in use, its tensors (by position) with the dtypes of their parts; None where one is absent."""
    dtypes = [h[0] if (h := headers.get(name)) else None for name in family.names]
    present = next((d for d in dtypes if d), None)
    chosen: dict[str | None, Format] = {}
    for name, dtype in zip(family.names, dtypes, strict=True):
        if dtype is not None and dtype not in chosen:
            chosen[dtype] = choose(family.entry, dtype, partial(_has, name, headers))
    fallback = chosen[present] if present else choose(family.entry, None, partial(_has, family.names[0], headers))
    for format in dict.fromkeys([*chosen.values(), fallback]):
        at = [i for i, dtype in enumerate(dtypes) if chosen.get(dtype, fallback) is format]
        parts = format.parts
        if not parts:
            default = present or family.entry.dtypes[0]
            yield format, ((i, (dtypes[i] or default,)) for i in at)
            continue
        found = [[h[0] if (h := headers.get(p.named(family.names[i]))) else None for i in at] for p in parts]
        filled = [
            column if part.optional else [dtype or _likely(column, part) for dtype in column]
            for part, column in zip(parts, found, strict=True)
        ]
        yield format, zip(at, zip(*filled, strict=True), strict=True)


def _has(name: str, headers: Mapping[str, Header], part: FormatPart) -> bool:
    return part.named(name) in headers


def _likely(column: list[str | None], part: FormatPart) -> str:
    return next((dtype for dtype in column if dtype), part.dtypes[0])


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
