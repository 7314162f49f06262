"""Weights that are stored in a format their entry does not list, or half in one (SHD405)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from msgspec import Struct, field

from shardc.diagnostics import Diagnostic, Label
from shardc.plan.evidence import Header
from shardc.plan.family import Family
from shardc.plan.formats import format_named
from shardc.plan.resolved import Format, FormatPart
from shardc.plan.sized import fits, fits_exactly, is_complete, sized, weight_of
from shardc.rules.differences import Differences, and_more
from shardc.spec.library import format_names


class Candidate(Struct, frozen=True):
    """A format that a weight would be in, by tensors of the file that no entry claims.

    `is_stored`: it is stored so; otherwise they only stand beside it. `is_exact`: all tensors have the sizes that the
    format gives them. The least `order` is the likeliest.
    """

    format: Format
    tensors: list[str]
    is_stored: bool
    is_exact: bool
    order: tuple[object, ...]


class Foreign(Struct, frozen=True):
    """Weights of one entry with tensors of a format that they are not read in. `likely` is of the first of them."""

    family: Family
    likely: Candidate
    weights: list[str] = field(default_factory=list)
    tensors: set[str] = field(default_factory=set)


def explain_formats(differences: Differences) -> set[str]:
    """Explains tensors by the weights they belong to, and the format they give these.

    Returns the names of the weights and of all that the spec has beside them: nothing else need be said of those.
    """
    misread = _misread(differences)
    if not differences.unexpected and not misread:
        return set()
    owners = {name: family for family in differences.bound.families for name in family.names}
    found: dict[tuple[object, ...], Foreign] = {}
    for weight, formats in _by_weight([*differences.unexpected, *misread], owners).items():
        candidates = [_candidate(*one, weight, owners[weight], differences) for one in formats.items()]
        here = [one for one in candidates if one.is_stored or weight in differences.headers]
        if here:
            likely = min(here, key=lambda one: one.order)
            key = (owners[weight].entry.path, likely.format.name, likely.is_stored)
            foreign = found.setdefault(key, Foreign(owners[weight], likely))
            foreign.weights.append(weight)
            foreign.tensors.update(likely.tensors)
    said: set[str] = set()
    for foreign in found.values():
        parts = foreign.family.stored.format.parts
        names = {*foreign.weights, *(part.named(weight) for weight in foreign.weights for part in parts)}
        differences.explain(_finding(foreign, differences), names - differences.headers.keys(), foreign.tensors)
        said |= names
    return said


def _misread(differences: Differences) -> list[str]:
    """Tensors that are read in the format their entry lists, and have the sizes of another with the same names."""
    names: list[str] = []
    for family in differences.bound.families:
        format = family.stored.format
        if not format.parts or _is_stored_as(format.name, family, differences):
            continue
        others = (other for other in map(format_named, format_names()) if other.parts and other.name != format.name)
        likely = [other.name for other in others if other.parts[0].name == format.parts[0].name]
        if any(_is_stored_as(other, family, differences) for other in likely):
            names += family.stored.parts[0].names
    return names


def _is_stored_as(name: str, family: Family, differences: Differences) -> bool:
    """Whether the tensors of the family's first weight are all there, in the sizes that a format gives them."""
    return _candidate(name, [], family.stored.family.first, family, differences).is_exact


def weights_of(name: str) -> Iterator[tuple[str, str]]:
    """(format, weight) for each that a tensor of this name would belong to."""
    yield "dense", name
    for ending, formats in _endings().items():
        if name.endswith(ending):
            stem = name.removesuffix(ending)
            for format in formats:
                yield format, f"{stem}.weight"
                yield format, stem


@cache
def _endings() -> Mapping[str, list[str]]:
    """What stands behind the stem in the names of formats' tensors, with the formats that have it."""
    endings: dict[str, list[str]] = {}
    for format in map(format_named, format_names()):
        for part in format.parts:
            endings.setdefault(part.name.removeprefix("{stem}"), []).append(format.name)
    return endings


def _by_weight(unexpected: list[str], owners: Mapping[str, Family]) -> dict[str, dict[str, list[str]]]:
    """Unexpected names by the weight, and then the format, that they belong to."""
    found: dict[str, dict[str, list[str]]] = {}
    for name in unexpected:
        for format, weight in weights_of(name):
            family = owners.get(weight)
            if family and family.entry.in_dim is not None and family.stored.format.name != format:
                found.setdefault(weight, {}).setdefault(format, []).append(name)
    return found


def _candidate(name: str, tensors: list[str], weight: str, family: Family, differences: Differences) -> Candidate:
    headers, entry = differences.headers, family.entry

    def header_of(part: FormatPart | None) -> Header | None:
        return headers.get(part.named(weight) if part else weight)

    size = weight_of(entry, family.shape)
    format = sized(format_named(name), size, differences.bound.evidence.config, header_of)
    first = header_of(format.parts[0] if format.parts else None)
    begins = first is not None and first[0] in (format.parts[0].dtypes if format.parts else entry.dtypes)
    exact = begins and is_complete(format, size, header_of, fits_exactly)
    listed = name in [one.name for one in entry.formats]
    whole = weight in headers or is_complete(format, size, header_of, fits)
    order = (not exact, not begins, -len(tensors), not listed)
    return Candidate(format, tensors, begins and whole and not listed, exact, order)


def _finding(foreign: Foreign, differences: Differences) -> Diagnostic:
    entry, format = foreign.family.entry, foreign.likely.format
    weights = list(dict.fromkeys(foreign.weights))
    weight, headers = weights[0], differences.headers
    first = format.parts[0].named(weight) if format.parts else weight
    beside = [name for name in foreign.likely.tensors if name != first]
    beside += [name for part in format.parts[1:] if (name := part.named(weight)) in headers]
    if foreign.likely.is_stored:
        named = "" if first == weight else f"{first} "
        stored = f"{named}{headers[first][0]}{f', with {beside[0]}' if beside else ''}"
        message = f"{weight} is stored as {format.name} ({stored}), which its entry does not list"
        help = f"list it: `formats: [{', '.join((*(listed.name for listed in entry.formats), format.name))}]`"
    else:
        message = f"{weight} is {headers[weight][0]}, but {beside[0]} beside it belongs to a weight in {format.name}"
        help = "a weight is stored in one format: convert the checkpoint again"
    where = differences.bound.resolved.document.value(*entry.path, "formats")
    return Diagnostic("SHD405", f"{message}{and_more(weights)}", Label(where), help=help)
