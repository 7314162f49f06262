"""Tensors that the file has under a name of the spec with a step put in between (SHD402).

A model that was saved by walking its live objects has its tensors under such aliases.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from shardc.diagnostics import Diagnostic, Label
from shardc.plan.family import Family
from shardc.rules.differences import Differences, and_more
from shardc.rules.formats import weights_of
from shardc.rules.patterns import by_pattern, pattern_of


class Alias(Struct, frozen=True, eq=False):
    """The family whose names these are without the dotted step at `at`."""

    family: Family
    at: int


def explain_inserted(differences: Differences) -> None:
    """One finding for each pattern of unexpected names; a weight's companions go along with it."""
    if not differences.unexpected:
        return
    weights = {pattern_of(family.stored.family.first): family for family in differences.bound.families}
    aliases: dict[str, Alias] = {}
    for pattern, names in by_pattern(differences.unexpected).items():
        alias = _alias(pattern, weights)
        if alias is not None and _fits(alias.family, differences.headers[names[0]][1]):
            aliases |= dict.fromkeys(names, alias)
    found: dict[Alias, list[str]] = {}
    for name, alias in aliases.items():
        found.setdefault(alias, []).append(name)
    along: dict[Alias, set[str]] = {}
    for name in differences.unexpected if aliases else ():
        for _, weight in weights_of(name):
            if weight in aliases:
                along.setdefault(aliases[weight], set()).add(name)
    for alias, names in found.items():
        gone = {*names, *along.get(alias, ())}
        finding = _finding(names, alias, differences)
        differences.explain(finding, {_without(name, alias.at) for name in gone}, gone)


def _fits(family: Family, found: tuple[int, ...]) -> bool:
    """Whether a tensor of this shape could be one of the family; a packed one's shape is left to its format."""
    return bool(family.stored.format.parts) or found == family.shape


def _alias(pattern: str, weights: Mapping[str, Family]) -> Alias | None:
    steps = pattern.split(".")
    for at in range(1, len(steps) - 1):
        family = weights.get(_without(pattern, at))
        if family is not None and steps[at] != "*":
            return Alias(family, at)
    return None


def _without(name: str, at: int) -> str:
    """A name without its step `at`, counted from 0."""
    steps = name.split(".")
    return ".".join(steps[:at] + steps[at + 1 :])


def _finding(names: list[str], alias: Alias, differences: Differences) -> Diagnostic:
    there, name = names[0], _without(names[0], alias.at)
    gone = name not in differences.headers
    message = (
        f"{there} is in the file, but no rule claims it: it is {name}, which is {'missing' if gone else 'there too'}, "
        f"with `{there.split('.')[alias.at]}` inserted{and_more(names)}"
    )
    label = Label(differences.bound.resolved.document.key(*alias.family.entry.path))
    help = "saved under an alias of a live object? Save it by its own name" + ("" if gone else ", once")
    return Diagnostic("SHD402", message, label, help=help)
