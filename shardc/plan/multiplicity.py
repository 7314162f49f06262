"""How many ranks hold each row of a dim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from shardc.layout.regions import Regions

#: (start, stop, count): `count` ranks hold each of the rows [start, stop).
Runs = tuple[tuple[int, int, int], ...]


def multiplicity(by_rank: Iterable[Regions], size: int) -> Runs:
    """The rows of a dim of `size`, in runs that equally many ranks hold; rows that nobody holds count 0."""
    steps: Counter[int] = Counter({0: 0, size: 0})
    for regions in by_rank:
        for start, stop, _ in regions:
            steps[start] += 1
            steps[stop] -= 1
    runs: list[tuple[int, int, int]] = []
    count = 0
    for start, stop in pairwise(sorted(steps)):
        count += steps[start]
        if runs and runs[-1][2] == count:
            runs[-1] = (runs[-1][0], stop, count)
        else:
            runs.append((start, stop, count))
    return tuple(runs)


def rows_held(regions: Regions, runs: Runs, count: int) -> int:
    """How many of the rank's rows exactly `count` ranks hold."""
    total = 0
    for start, stop, _ in regions:
        for low, high, held in runs:
            if held == count:
                total += max(0, min(stop, high) - max(start, low))
    return total
