"""The tables of RESULTS.md."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from bench.loading.cells import CACHES, SCOPES, Cell, Way, ways
from bench.loading.results import Row, Table, limit_of, ours_of, ratio

BEGIN, END = "<!-- loading: begin -->", "<!-- loading: end -->"
SCOPE_TITLES = {"rank": "one rank", "node": "all ranks of a node"}
HEAD = (
    "| tp | method | warm, s | GB/s | of limit | × ours | peak | cold, s | GB/s | of limit | × ours | disk |",
    "|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
)


def sections(results: dict[Cell, Table]) -> Iterator[str]:
    """A table for each workload and scope, warm and cold side by side."""
    for workload in dict.fromkeys(cell.workload for cell in results):
        for scope in SCOPES:
            lines = [line for tp in tps(results, workload, scope) for line in rows(results, workload, tp, scope)]
            if lines:
                yield "\n".join([f"**{workload}, {SCOPE_TITLES[scope]}**", "", *HEAD, *lines])
                yield from failures(results, workload, scope)


def failures(results: dict[Cell, Table], workload: str, scope: str) -> Iterator[str]:
    """Why rows have no figures, a line for each reason."""
    where: dict[str, list[str]] = defaultdict(list)
    for cell, table in results.items():
        for way, row in table.items():
            if (cell.workload, cell.scope) == (workload, scope) and row.reason:
                where[f"{way.label}: {row.reason}"].append(f"tp={cell.tp} {cell.cache}")
    if where:
        yield "\n".join(f"- {reason} ({', '.join(places)})" for reason, places in where.items())


def tps(results: dict[Cell, Table], workload: str, scope: str) -> list[int]:
    """The tp sizes of a table."""
    return sorted({cell.tp for cell in results if (cell.workload, cell.scope) == (workload, scope)})


def rows(results: dict[Cell, Table], workload: str, tp: int, scope: str) -> Iterator[str]:
    """The lines of a tp size."""
    pair = {cache: Cell(workload, tp, cache, scope) for cache in CACHES}
    both = [results.get(cell, {}) for cell in pair.values()]
    measured = {way for table in both for way in table}
    order = dict.fromkeys(way for cell in pair.values() for way in ways(cell, "*") if way in measured)
    for way in order:
        cells = [figures(pair[cache], table, way) for cache, table in zip(CACHES, both, strict=True)]
        yield f"| {tp} | {way.label} | {' | '.join(cells)} |"


def figures(cell: Cell, table: Table, way: Way) -> str:
    """Five columns of one row."""
    row = table.get(way, Row())
    if not row.rounds:
        return "– |  |  |  | " if row.reason else " |  |  |  | "
    last = row.peak if cell.cache == "warm" else row.disk
    limit, ours = ratio(limit_of(cell, table), row), ratio(row, ours_of(table))
    shown = f"{row.median('seconds'):.2f} | {row.speed:.2f} | {number(limit)} | {number(ours)}"
    return f"{shown} | {'' if way.method.startswith('limit') else number(last)}"


def number(value: float | None) -> str:
    """Two digits after the point; nothing for what was not measured."""
    return "" if value is None else f"{value:.2f}"


def write_section(path: Path, text: str) -> None:
    """Puts the text between the marks of a file, or at its end where it has no marks yet."""
    old = path.read_text() if path.exists() else ""
    block = f"{BEGIN}\n{text}\n{END}\n"
    if BEGIN in old:
        before, _, rest = old.partition(BEGIN)
        new = before + block + rest.partition(END)[2].removeprefix("\n")
    else:
        new = f"{old.rstrip()}\n\n{block}" if old else block
    partial = path.with_suffix(".partial")
    partial.write_text(new)
    partial.rename(path)
