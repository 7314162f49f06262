"""What is measured: for a workload, a tp size, a state of the page cache and a scope, which methods in which way."""

from __future__ import annotations

from fnmatch import fnmatch
from typing import NamedTuple

OURS, IN_ONE_PASS = "shardc", "shardc load_ranks"
CACHES = ("warm", "cold")
SCOPES = ("rank", "node")
TP = (2, 4, 8)
MAIN_TP = 4  # all methods are measured here; at the other sizes, the core ones
RANK = 1  # the rank that is loaded where only one is


class Way(NamedTuple):
    """A method, and how it is run: `alone` loads one rank. All ranks of a node are loaded by one process one after
    another (`turn`), by a process each at the same time (`once`), or by one process in one call (`pass`)."""

    method: str
    how: str

    @property
    def label(self) -> str:
        """Its name in a table."""
        return self.method + {"alone": "", "pass": "", "turn": ", in turn", "once": ", at once"}[self.how]


class Cell(NamedTuple):
    """Rows of one table that are measured in turn."""

    workload: str
    tp: int
    cache: str
    scope: str

    @property
    def name(self) -> str:
        """As `--only` names it."""
        return f"{self.workload}/tp{self.tp}/{self.cache}/{self.scope}"


CORE = ("get_slice", "load-narrow-copy")
OTHERS = (
    "get_slice (pread)",
    "load_file + narrow",
    "mmap views",
    "fastsafetensors",
    "fastsafetensors (buffered)",
    "runai-model-streamer",
    "runai-model-streamer (buffered)",
    "tensorizer",
    "DTensor",
    "DCP",
)
LIMIT = {"warm": "limit: memcpy", "cold": "limit: read"}


def cells(only: str, workloads: list[str]) -> list[Cell]:
    """Every cell whose name matches the pattern, a workload after another, warm before cold."""
    every = [
        Cell(workload, tp, cache, scope) for workload in workloads for cache in CACHES for scope in SCOPES for tp in TP
    ]
    return [cell for cell in every if fnmatch(cell.name, only)]


def ways(cell: Cell, methods: str) -> list[Way]:
    """The rows of a cell. methods: patterns, separated by commas, of the peers; ours and the limit are always there."""
    limit, patterns = LIMIT[cell.cache], methods.split(",")
    if cell.scope == "rank":
        peers = [*CORE, *(OTHERS if cell.tp == MAIN_TP else ())]
        own = [Way(OURS, "alone"), Way(limit, "alone")]
        return own + [Way(name, "alone") for name in peers if chosen(name, patterns)]
    own, peers = [Way(IN_ONE_PASS, "pass"), Way(limit, "pass")], [Way(CORE[0], "once"), Way(CORE[0], "turn")]
    if cell.tp == MAIN_TP:
        own += [Way(OURS, "once"), Way(OURS, "turn")]
        peers += [Way(CORE[1], "once"), Way(CORE[1], "turn"), Way("transformers tp_plan", "once")]
    return own + [way for way in peers if chosen(way.method, patterns)]


def chosen(name: str, patterns: list[str]) -> bool:
    """True where a pattern matches the name."""
    return any(fnmatch(name, pattern.strip()) for pattern in patterns)
