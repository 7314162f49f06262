"""Rows of one dim of a local tensor, in words of where they come from: runs of a source's rows, and of zero rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import product

from shardc.runtime.arithmetic import ceil_div
from shardc.runtime.moves import Move
from shardc.runtime.regions import Spans, pads
from shardc.runtime.stretches import Stretch, moved, stretches

RowRun = tuple[str | None, int, int]  # (source, start, stop): rows of a source; None: so many rows of zero
RowRuns = tuple[RowRun, ...]

SHOWN_RUNS = 3


def merged_rows(runs: Iterable[RowRun]) -> RowRuns:
    """The same rows in the fewest runs; those of zero start at 0."""
    found: list[RowRun] = []
    for source, start, stop in runs:
        last, last_start, last_stop = found[-1] if found else ("", 0, 0)
        if start == stop:
            continue
        if found and source is None and last is None:
            found[-1] = (None, 0, last_stop + stop - start)
        elif found and source == last and start == last_stop:
            found[-1] = (source, last_start, stop)
        else:
            found.append((source, start, stop) if source is not None else (None, 0, stop - start))
    return tuple(found)


def rows_in(runs: RowRuns) -> int:
    """How many rows there are."""
    return sum(stop - start for _, start, stop in runs)


def chunk_of(runs: RowRuns, index: int, number: int) -> RowRuns:
    """Part `index` of `number`, as torch.chunk cuts: the first parts are of equal size, the last are short or empty."""
    each = ceil_div(rows_in(runs), number)
    first, last = index * each, (index + 1) * each
    found: list[RowRun] = []
    at = 0
    for source, start, stop in runs:
        low, high = max(first - at, 0), min(last - at, stop - start)
        if low < high:
            found.append((source, start + low, start + high))
        at += stop - start
    return merged_rows(found)


def in_words(runs: RowRuns) -> str:
    """Runs as `0..4 and 8..12`, at most three of them; zero rows as `2 of zero`."""
    words = [
        f"{stop} of zero" if source is None else f"{source} {start}..{stop}".strip() for source, start, stop in runs
    ]
    more = len(words) - SHOWN_RUNS
    shown = words[:SHOWN_RUNS] + ([f"{more} more"] if more > 0 else [])
    return " and ".join(shown) or "nothing"


@lru_cache(maxsize=4096)
def moved_runs(moves: tuple[Move, ...], spans: Spans, source: str) -> tuple[tuple[int, RowRun], ...]:
    """Where the rows of regions go by moves: (first row of the output, rows) of each run."""
    real = [(source, stretch) for stretch in stretches(spans, moves)]
    zero = [(None, stretch) for start, stop in pads(spans) for stretch in moved(0, start, stop - start, moves)]
    return tuple(
        (place, (of, start, stop)) for of, stretch in (*real, *zero) for place, start, stop in neighbours(stretch)
    )


def neighbours(stretch: Stretch) -> Iterator[tuple[int, int, int]]:
    """(place, start, stop) of the rows of a stretch that stay next to each other."""
    sizes, steps, to, rows = stretch.sizes, stretch.steps, stretch.to, 1
    if steps[-1] == to[-1] == 1:
        sizes, steps, to, rows = sizes[:-1], steps[:-1], to[:-1], sizes[-1]
    for index in product(*map(range, sizes)):
        start = stretch.start + row_at(index, steps)
        yield stretch.place + row_at(index, to), start, start + rows


def row_at(index: Sequence[int], steps: Sequence[int]) -> int:
    """The row at an index."""
    return sum(i * step for i, step in zip(index, steps, strict=True))
