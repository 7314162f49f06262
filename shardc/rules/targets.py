"""The findings of several targets: what is said of each of them in the same words is one finding."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from shardc.diagnostics import Diagnostic


class TargetFindings(Struct, frozen=True):
    """What there is to say of one target; `name` is as its findings call it."""

    name: str
    findings: list[Diagnostic]


def by_target(targets: Iterable[TargetFindings]) -> list[Diagnostic]:
    """Findings with the same code, words and place once, with the first target's values and a note on the others."""
    owners: dict[tuple[object, ...], dict[str, Diagnostic]] = {}
    for target in targets:
        for finding in target.findings:
            owners.setdefault((finding.code, finding.message, finding.label), {}).setdefault(target.name, finding)
    return [_merged(by_name) for by_name in owners.values()]


def _merged(by_name: dict[str, Diagnostic]) -> Diagnostic:
    (_, finding), *others = by_name.items()
    if not others:
        return finding
    return replace(finding, notes=(*finding.notes, f"the same holds for {', '.join(name for name, _ in others)}"))
