"""Findings together: their order and their number."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from shardc.diagnostics.diagnostic import Diagnostic


class Counts(NamedTuple):
    """How many findings there are of each severity."""

    errors: int
    warnings: int
    hints: int


def counts(diagnostics: Iterable[Diagnostic]) -> Counts:
    """Count findings by severity."""
    severities = [diagnostic.severity for diagnostic in diagnostics]
    return Counts(severities.count("error"), severities.count("warning"), severities.count("hint"))


def in_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Sort findings by place, code and message, those without a place first, and keep one of exact duplicates."""
    ordered = sorted(diagnostics, key=lambda diagnostic: diagnostic.sort_key)
    return [
        diagnostic
        for _, alike in groupby(ordered, key=lambda diagnostic: diagnostic.sort_key)
        for diagnostic in _distinct(alike)
    ]


def _distinct(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The first of each set of equal findings; by comparison, since `valid` is a mapping and has no hash."""
    distinct: list[Diagnostic] = []
    for diagnostic in diagnostics:
        if diagnostic not in distinct:
            distinct.append(diagnostic)
    return distinct
