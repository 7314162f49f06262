"""Two entries that claim one name (SHD105): conditions that overlap, or a tensor written twice."""

from __future__ import annotations

from collections.abc import Iterator

from shardc.diagnostics import Diagnostic, Label
from shardc.plan.bound import Bound
from shardc.plan.family import Family


def check(bound: Bound) -> Iterator[Diagnostic]:
    """One finding for each pair of entries that share a name in this config."""
    if bound.matched is not None:
        return
    names = [name for family in bound.families for name in family.names]
    if len(set(names)) == len(names):
        return
    owner: dict[str, Family] = {}
    reported = set()
    for family in bound.families:
        for name in family.names:
            first = owner.setdefault(name, family)
            pair = (first.entry.path, family.entry.path)
            if first is not family and pair not in reported:
                reported.add(pair)
                yield _finding(name, first, family, bound)


def _finding(name: str, first: Family, second: Family, bound: Bound) -> Diagnostic:
    document = bound.resolved.document
    return Diagnostic(
        "SHD105",
        f"{name} is claimed twice, by {first.entry.group} and by {second.entry.group}",
        Label(document.key(*second.entry.path), "here"),
        related=(Label(document.key(*first.entry.path), "and here"),),
        help="give the two entries `when:` conditions that exclude each other",
    )
