"""Measurements as they are kept, a line of JSON each, and what is worked out of them."""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.loading.cells import LIMIT, Cell, Way

MIB = 1 << 20


@dataclass
class Row:
    """All measurements of a way in a cell: figures by round, or the reason why there are none."""

    rounds: dict[int, dict[str, Any]] = field(default_factory=dict)
    reason: str = ""

    def median(self, name: str) -> float:
        """The median of a figure."""
        return float(statistics.median(one[name] for one in self.rounds.values()))

    @property
    def speed(self) -> float:
        """Local bytes of all ranks a nanosecond, which are GB/s."""
        return self.bytes / self.median("seconds") / 1e9

    @property
    def bytes(self) -> float:
        """Local bytes of all ranks."""
        return self.median("local") * self.median("ranks")

    @property
    def peak(self) -> float:
        """Peak of memory over the local bytes of the ranks of a process."""
        return self.median("peak") / (self.bytes / self.median("processes"))

    @property
    def excess(self) -> float:
        """MiB of the peak beyond 1.03 of the local bytes of the ranks of a process."""
        return (self.median("peak") - 1.03 * self.bytes / self.median("processes")) / MIB

    @property
    def disk(self) -> float:
        """Bytes read from the disk over the local bytes of all ranks."""
        return self.median("disk") / self.bytes

    @property
    def disk_of_file(self) -> float:
        """Bytes read from the disk over the bytes of the checkpoint."""
        return self.median("disk") / self.median("file")


Table = dict[Way, Row]


def ratio(over: Row, under: Row) -> float | None:
    """The median, over the rounds in which both were measured, of the seconds of one over those of the other."""
    shared = over.rounds.keys() & under.rounds.keys()
    if not shared:
        return None
    return float(statistics.median(over.rounds[one]["seconds"] / under.rounds[one]["seconds"] for one in shared))


def limit_of(cell: Cell, table: Table) -> Row:
    """The row of the limit; an empty one where it was not measured."""
    return next((row for way, row in table.items() if way.method == LIMIT[cell.cache]), Row())


def ours_of(table: Table) -> Row:
    """The row that others are compared with: the first of ours that has figures."""
    return next((row for way, row in table.items() if way.method.startswith("shardc") and row.rounds), Row())


def read_results(path: Path) -> dict[Cell, Table]:
    """Every cell that the file has measurements of."""
    return tables(entries_of(path))


def rounds_of(path: Path) -> int:
    """The number of the first round that the file does not have: what is measured at different times is no pair."""
    return max((entry["round"] + 1 for entry in entries_of(path)), default=0)


def entries_of(path: Path) -> list[dict[str, Any]]:
    """The measurements of a file, as they were made."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def tables(entries: Iterable[dict[str, Any]]) -> dict[Cell, Table]:
    """The tables of all entries."""
    found: dict[Cell, Table] = defaultdict(dict)
    for entry in entries:
        row = found[Cell(*entry["cell"])].setdefault(Way(*entry["way"]), Row())
        if "reason" in entry:
            row.reason = entry["reason"]
        else:
            row.rounds[entry["round"]] = entry
    return found
