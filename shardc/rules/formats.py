"""Weights that are stored in a format their entry does not list, or half in one (SHD405)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from shardc.diagnostics import Diagnostic, Label
from shardc.plan.evidence import Header
from shardc.plan.family import Family
from shardc.plan.formats import format_named
from shardc.plan.resolved import Format, FormatPart
from shardc.plan.sized import fits, fits_exactly, is_complete, sized, weight_of
from shardc.rules.differences import Differences, and_more
from shardc.spec.library import format_names


@dataclass(frozen=True)
class Candidate:
    """A format that a weight would be in, by tensors of the file that no entry claims.

    `is_stored`: it is stored so; otherwise they only stand beside it. The least `order` is the likeliest.
    """

    format: Format
    tensors: list[str]
    is_stored: bool
    order: tuple[object, ...]


@dataclass(frozen=True)
class Foreign:
    """Weights of one entry with tensors of a format that they are not read in."""

    family: Family
    format: Format
    is_stored: bool
    weights: list[str] = field(default_factory=list)
    tensors: list[str] = field(default_factory=list)


def explain_formats(differences: Differences) -> set[str]:
    """Explains unexpected tensors by the weights they belong to; returns those: nothing else need be said of them."""
    if not differences.unexpected:
        return set()
    owners = {name: family for family in differences.bound.families for name in family.names}
    found: dict[tuple[object, ...], Foreign] = {}
    for weight, formats in _by_weight(differences.unexpected, owners).items():
        candidates = [_candidate(*one, weight, owners[weight], differences) for one in formats.items()]
        here = [one for one in candidates if one.is_stored or weight in differences.headers]
        if here:
            likely = min(here, key=lambda one: one.order)
            key = (owners[weight].entry.path, likely.format.name, likely.is_stored)
            foreign = found.setdefault(key, Foreign(owners[weight], likely.format, likely.is_stored))
            foreign.weights.append(weight)
            foreign.tensors.extend(likely.tensors)
    for foreign in found.values():
        missing = {part.named(weight) for weight in foreign.weights for part in foreign.family.stored.format.parts}
        absent = {*foreign.weights, *missing} - differences.headers.keys()
        differences.explain(_finding(foreign, differences), absent, set(foreign.tensors))
    return {weight for foreign in found.values() for weight in foreign.weights}


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
    return Candidate(
        format, tensors, begins and whole and not listed, (not exact, not begins, -len(tensors), not listed)
    )


def _finding(foreign: Foreign, differences: Differences) -> Diagnostic:
    entry, format = foreign.family.entry, foreign.format
    weights = list(dict.fromkeys(foreign.weights))
    weight, headers = weights[0], differences.headers
    first = format.parts[0].named(weight) if format.parts else weight
    companion = next((name for name in foreign.tensors if name != first), None)
    listed = [listed.name for listed in entry.formats]
    if foreign.is_stored:
        with_ = f", with {companion}" if companion else ""
        named = "" if first == weight else f"{first} "
        message = (
            f"{weight} is stored as {format.name} ({named}{headers[first][0]}{with_}), which its entry does not list"
        )
        help = f"list it: `formats: [{', '.join((*listed, format.name))}]`"
    else:
        message = f"{weight} is {headers[weight][0]}, but {companion} beside it belongs to a weight in {format.name}"
        help = "a weight is stored in one format: convert the checkpoint again"
    where = differences.bound.resolved.document.value(*entry.path, "formats")
    return Diagnostic("SHD405", f"{message}{and_more(weights)}", Label(where), help=help)
