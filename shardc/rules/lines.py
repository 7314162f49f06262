"""Where an entry stands."""

from __future__ import annotations

from shardc.plan.resolved import Entry
from shardc.source import Document


def line_of(entry: Entry, document: Document) -> int:
    return document.key(*entry.path).line
