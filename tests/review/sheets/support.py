"""Sheets of short specs, with the targets that they name."""

from __future__ import annotations

from collections.abc import Mapping

from shardc.plan.bound import bind
from shardc.plan.evidence import Evidence, Header
from shardc.review.sheets.sheet import sheet
from shardc.rules.check import Claim
from tests.support import resolved


def sheet_of(text: str, headers: Mapping[str, Header] | None = None, file: str = "spec.yaml") -> str:
    """The sheet of all targets of a spec that needs no config; they are of one checkpoint."""
    found = bind(resolved(text, file), Evidence("example", {}, headers))
    assert not found.findings
    return sheet([Claim(target, found, ()) for target in found.resolved.spec.targets])


def lines_of(sheet: str) -> list[str]:
    """Its lines without rules, columns one blank apart."""
    return [" ".join(line.split()) for line in sheet.splitlines() if not line.startswith("---")]


def changed(before: str, after: str) -> tuple[list[str], list[str]]:
    """The lines that went and those that came."""
    old, new = lines_of(before), lines_of(after)
    return [line for line in old if line not in new], [line for line in new if line not in old]
