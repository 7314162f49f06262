"""What a comparison of names leaves over, and what has been explained of it so far."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from shardc.diagnostics import Diagnostic
from shardc.plan.bound import Bound
from shardc.plan.evidence import Header
from shardc.plan.family import Family
from shardc.plan.stored import StoredPart


class Missing(Struct, frozen=True):
    """Names of one stored tensor of a family that the file lacks."""

    family: Family
    part: StoredPart
    names: list[str]

    @property
    def is_companion(self) -> bool:
        """Whether the names stand beside a weight: its scales."""
        return self.part.part is not None and self.part is not self.family.stored.parts[0]

    def weight_of(self, name: str) -> str:
        """The family's tensor that one of the part's names belongs to."""
        return self.family.names[self.part.names.index(name)]


class Differences(Struct):
    """Names on one side only. Each step explains some, takes them out, and adds one finding for each cause."""

    bound: Bound
    headers: Mapping[str, Header]
    missing: list[Missing]
    unexpected: list[str]
    findings: list[Diagnostic] = field(default_factory=list)

    def explain(self, finding: Diagnostic, missing: set[str], unexpected: set[str]) -> None:
        self.findings.append(finding)
        if missing:
            left = [Missing(m.family, m.part, [n for n in m.names if n not in missing]) for m in self.missing]
            self.missing = [m for m in left if m.names]
        if unexpected:
            self.unexpected = [name for name in self.unexpected if name not in unexpected]


def and_more(names: list[str]) -> str:
    return f" (and {len(names) - 1} more like it)" if len(names) > 1 else ""
