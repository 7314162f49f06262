"""Weights that are stored in a format their entry does not list, or half in one (SHD405)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from shardc.diagnostics import Diagnostic, Label
from shardc.plan.evidence import Header
from shardc.plan.family import Family
from shardc.plan.formats import format_named
from shardc.plan.resolved import Format
from shardc.rules.differences import Differences, and_more
from shardc.spec.library import format_names


@dataclass(frozen=True)
class Foreign:
    """Weights of one family beside which stand companions of a format that the family is not stored in."""

    family: Family
    format: Format
    weights: list[str]
    companions: list[str]


def explain_formats(differences: Differences) -> set[str]:
    """Explains unexpected companions by their weights; returns those weights, of which nothing else need be said."""
    if not differences.unexpected:
        return set()
    owners = {name: family for family in differences.bound.families for name in family.names}
    found: dict[tuple[int, str], Foreign] = {}
    for companion in differences.unexpected:
        for family, format, weight in _likely(companion, owners, differences.headers)[:1]:
            key = (id(family), format.name)
            foreign = found.setdefault(key, Foreign(family, format, [], []))
            foreign.weights.append(weight)
            foreign.companions.append(companion)
    for foreign in found.values():
        differences.explain(_finding(foreign, differences), set(), set(foreign.companions))
    return {weight for foreign in found.values() for weight in foreign.weights}


def weights_of(companion: str) -> Iterator[tuple[Format, str]]:
    """The weights that a name would belong to as a companion, by format."""
    for format in map(format_named, format_names()):
        for part in format.parts[1:]:
            before, after = part.name.split("{stem}")
            if companion.startswith(before) and companion.endswith(after):
                stem = companion.removeprefix(before).removesuffix(after)
                yield format, format.parts[0].named(f"{stem}.weight")


def _likely(
    companion: str, owners: Mapping[str, Family], headers: Mapping[str, Header]
) -> list[tuple[Family, Format, str]]:
    """Its weights that the file has, in formats they are not stored in; formats of the weight's dtype come first."""

    def rank(found: tuple[Family, Format, str]) -> tuple[bool, bool]:
        family, format, weight = found
        return headers[weight][0] not in format.parts[0].dtypes, format not in family.entry.formats

    here = [(owners[weight], format, weight) for format, weight in weights_of(companion) if weight in owners]
    return sorted(
        (one for one in here if one[2] in headers and one[0].stored.format.name != one[1].name),
        key=rank,
    )


def _finding(foreign: Foreign, differences: Differences) -> Diagnostic:
    entry, format = foreign.family.entry, foreign.format.name
    weights = list(dict.fromkeys(foreign.weights))
    weight, companion = weights[0], foreign.companions[0]
    dtype = differences.headers[weight][0]
    document = differences.bound.resolved.document
    listed = [listed.name for listed in entry.formats]
    if dtype in foreign.format.parts[0].dtypes and format not in listed:
        message = f"{weight} is stored as {format} ({dtype}, with {companion}), which its entry does not list"
        help = f"list it: `formats: [{', '.join((*listed, format))}]`"
    else:
        message = f"{weight} is {dtype}, but {companion} beside it belongs to a weight in {format}"
        help = "a weight is stored in one format: convert the checkpoint again"
    where = document.value(*entry.path, "formats")
    return Diagnostic("SHD405", f"{message}{and_more(weights)}", Label(where), help=help)
