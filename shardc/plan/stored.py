"""How the tensors of a family are stored: which format, which dtypes. The file's headers decide, never its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from shardc.plan.evidence import Header
from shardc.plan.families import Names
from shardc.plan.resolved import Format, FormatPart


@dataclass(frozen=True)
class StoredPart:
    """One tensor of a family's format: its names (beside the family's), the file's dtype, the dtype it loads as.

    `header` is the file's, where all of the names are there and have that one.
    """

    part: FormatPart | None
    names: tuple[str, ...]
    dtype: str
    load: str
    header: Header | None = None


@dataclass(frozen=True)
class Stored:
    """Names of one entry with one shape, one format and one set of dtypes."""

    family: Names
    format: Format
    parts: tuple[StoredPart, ...]


def stored(family: Names, headers: Mapping[str, Header] | None) -> list[Stored]:
    """The family by the ways its tensors are stored. Without headers, as the first format it lists.

    Names that the headers lack take the format of the others; what is missing is for coverage to report.
    """
    if headers is None:
        first = family.entry.formats[0]
        return [_as(family, first, _first_dtypes(family, first))]
    alike = _all_alike(family, headers)
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


def _all_alike(family: Names, headers: Mapping[str, Header]) -> Stored | None:
    """The common case: all tensors of the family are there, with one header for each part."""
    header = headers.get(family.names[0])
    if header is None or not _have(family.names, header, headers):
        return None
    dtype = header[0]
    format = choose(family, family.names[0], dtype, headers)
    if not format.parts:
        return Stored(family, format, (StoredPart(None, family.names, dtype, family.entry.load or dtype, header),))
    parts: list[StoredPart] = []
    for part in format.parts:
        names = part.all_named(family.names)
        found = headers.get(names[0])
        if not _have(names, found, headers) or (found is None and not part.optional):
            return None
        if found is not None:
            parts.append(StoredPart(part, names, found[0], found[0], found))
    return Stored(family, format, tuple(parts))


def _have(names: tuple[str, ...], header: Header | None, headers: Mapping[str, Header]) -> bool:
    """Whether the file has this very header (or none) for all of the names."""
    return {id(header)} == set(map(id, map(headers.get, names)))


def choose(family: Names, name: str, dtype: str | None, headers: Mapping[str, Header]) -> Format:
    """The first listed format whose first tensor has this dtype and whose required companions are there.

    Where none fits, the one that its companions point to, or that the dtype alone fits, or the first: what is wrong
    is then for coverage to report.
    """
    formats = family.entry.formats
    fitting = [f for f in formats if dtype in (f.parts[0].dtypes if f.parts else family.entry.dtypes)]
    complete = [f for f in fitting if all(p.optional or p.named(name) in headers for p in f.parts)]
    pointed = [f for f in formats if any(p.named(name) in headers for p in f.parts[1:])]
    return (complete or pointed or fitting or list(formats))[0]


def _signatures(
    family: Names, headers: Mapping[str, Header]
) -> Iterator[tuple[Format, Iterator[tuple[int, tuple[str | None, ...]]]]]:
    """For each format in use, its tensors (by position) with the dtypes of their parts; None where one is absent."""
    dtypes = [h[0] if (h := headers.get(name)) else None for name in family.names]
    present = next((d for d in dtypes if d), None)
    chosen: dict[str | None, Format] = {}
    for name, dtype in zip(family.names, dtypes, strict=True):
        if dtype is not None and dtype not in chosen:
            chosen[dtype] = choose(family, name, dtype, headers)
    fallback = chosen[present] if present else choose(family, family.names[0], None, headers)
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


def _likely(column: list[str | None], part: FormatPart) -> str:
    return next((dtype for dtype in column if dtype), part.dtypes[0])


def _first_dtypes(family: Names, format: Format) -> tuple[str | None, ...]:
    if not format.parts:
        return (family.entry.dtypes[0],)
    return tuple(None if part.optional else part.dtypes[0] for part in format.parts)


def _as(family: Names, format: Format, dtypes: tuple[str | None, ...]) -> Stored:
    if not format.parts:
        dtype = dtypes[0] or family.entry.dtypes[0]
        return Stored(family, format, (StoredPart(None, family.names, dtype, family.entry.load or dtype),))
    parts = []
    for part, found in zip(format.parts, dtypes, strict=True):
        if found is not None:
            parts.append(StoredPart(part, part.all_named(family.names), found, found))
    return Stored(family, format, tuple(parts))
