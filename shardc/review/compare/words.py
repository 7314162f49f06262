"""Regions in words: where the rows that a rank keeps stand in the file."""

from __future__ import annotations

from itertools import pairwise

from shardc.layout.regions import Regions

#: Ranges that are written out before they are only counted.
_SHOWN = 3


def rows(regions: Regions) -> str:
    """`128..256`, `0..128, 512..640`, `128 ranges of 1, every 8, from 3`; zero fill is said last."""
    spans = [(start, stop) for start, stop, _ in regions if stop > start]
    pad = sum(pad for _, _, pad in regions)
    said = _spans(spans) if spans else "" if pad else "nothing"
    return " + ".join(part for part in (said, f"{pad} of zero fill" if pad else "") if part)


def _spans(spans: list[tuple[int, int]]) -> str:
    if len(spans) <= _SHOWN:
        return ", ".join(f"{start}..{stop}" for start, stop in spans)
    lengths = {stop - start for start, stop in spans}
    steps = {after[0] - before[0] for before, after in pairwise(spans)}
    if len(lengths) == 1 and len(steps) == 1:
        return f"{len(spans)} ranges of {lengths.pop()}, every {steps.pop()}, from {spans[0][0]}"
    first = ", ".join(f"{start}..{stop}" for start, stop in spans[:_SHOWN])
    return f"{len(spans)} ranges: {first}, …"
