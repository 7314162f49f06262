"""What the loaders must reach, and what was measured of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from bench.loading.catalogue import WORKLOADS
from bench.loading.cells import CACHES, IN_ONE_PASS, OURS, Cell, Way
from bench.loading.results import Row, Table, limit_of, ratio

ALONE = Way(OURS, "alone")
LIBRARIES = (
    "fastsafetensors",
    "fastsafetensors (buffered)",
    "runai-model-streamer",
    "runai-model-streamer (buffered)",
    "tensorizer",
)


class Bar(NamedTuple):
    """A figure that has to be at least `least` or at most `most`. measured: None where it was not."""

    text: str
    measured: float | None
    least: float | None = None
    most: float | None = None

    @property
    def line(self) -> str:
        """A row of a table."""
        bound = f"≥ {self.least:g}" if self.least is not None else f"≤ {self.most:g}"
        if self.measured is None:
            return f"| {self.text} | {bound} | | not measured |"
        return f"| {self.text} | {bound} | {self.measured:.2f} | {'yes' if self.reached else 'no'} |"

    @property
    def reached(self) -> bool:
        """True where the figure is within its bound."""
        assert self.measured is not None
        above = self.least is None or self.measured >= self.least
        return above and (self.most is None or self.measured <= self.most)


def bars(results: dict[Cell, Table]) -> Iterator[Bar]:
    """Every bar, at tp=4."""
    for workload, slice_bar, narrow_bar in (("llama", 2.2, 1.9), ("moe", 1.5, 1.3)):
        yield faster(results, workload, "warm", "get_slice", slice_bar)
        yield faster(results, workload, "warm", "load-narrow-copy", narrow_bar)
    cell = Cell("llama", 4, "warm", "rank")
    table = results.get(cell, {})
    yield Bar("llama, warm: of the memcpy limit", ratio(limit_of(cell, table), table.get(ALONE, Row())), 0.65)
    for workload in ("llama", "moe"):
        yield faster(results, workload, "cold", "get_slice", 1.5)
    for workload in WORKLOADS:
        for library in LIBRARIES:
            yield faster(results, workload, "warm", library, 5)
    for workload, least in (("llama", 4.0), ("moe", 3.0)):
        for cache in CACHES:
            yield from node(results, workload, cache, least)
    yield from peaks(results)


def faster(results: dict[Cell, Table], workload: str, cache: str, peer: str, least: float) -> Bar:
    """How many times faster one rank loads than with a peer."""
    table = results.get(Cell(workload, 4, cache, "rank"), {})
    measured = ratio(table.get(Way(peer, "alone"), Row()), table.get(ALONE, Row()))
    return Bar(f"{workload}, {cache}: {peer} over ours", measured, least)


def node(results: dict[Cell, Table], workload: str, cache: str, least: float) -> Iterator[Bar]:
    """All ranks in one pass, against loads of each by get_slice; and what that reads of the disk."""
    table = results.get(Cell(workload, 4, cache, "node"), {})
    ours = table.get(Way(IN_ONE_PASS, "pass"), Row())
    for how, title in (("turn", "one after another"), ("once", "at once")):
        measured = ratio(table.get(Way("get_slice", how), Row()), ours)
        yield Bar(f"{workload}, {cache}: four loads by get_slice {title}, over one pass", measured, least)
    if cache == "cold":
        read = ours.disk_of_file if ours.rounds else None
        yield Bar(f"{workload}, cold: bytes from the disk in one pass over the file's", read, most=1.05)


def peaks(results: dict[Cell, Table]) -> Iterator[Bar]:
    """The largest peak beyond 1.03 of the local bytes, of every load of ours."""
    every = [
        row.excess
        for table in results.values()
        for way, row in table.items()
        if way.method.startswith(OURS) and row.rounds
    ]
    yield Bar("peak beyond 1.03 × local bytes, MiB, the largest of all cells", max(every, default=None), most=64)
