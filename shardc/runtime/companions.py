"""The regions of a quantised weight, in the units of one of its parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from shardc.runtime.arithmetic import ceil_div
from shardc.runtime.errors import ShardError
from shardc.runtime.regions import Spans, normalise
from shardc.runtime.tensors import Dim


class SegmentCut(NamedTuple):
    """Rows [low, high) of one segment of a dim, counted from the segment's start, and the zero rows after them."""

    segment: int
    low: int
    high: int
    pad: int


def companion_size(part_name: str, segments: tuple[int, ...], dim: Dim) -> int:
    """Size of a part's dim: each segment of the weight's dim in units. Raises SHD213 for a ragged segment."""
    unit = int(dim.unit)
    for size in segments:
        if size % unit and not dim.ceil:
            raise ShardError(("SHD213", f"{part_name}: {size} is not a multiple of {unit}"))
    return sum(ceil_div(size, unit) for size in segments) * int(dim.entries)


def check_nested(part_name: str, nested: tuple[int, ...], unit: int) -> None:
    """Raises SHD213 where a unit would span two parts of a concatenation that is repeated."""
    for size in nested:
        if size % unit:
            text = f"a part of {size} is not a multiple of {unit}: a unit would span two parts"
            raise ShardError(("SHD213", f"{part_name}: {text}"))


def companion_spans(part_name: str, dim: int, spans: Spans, segments: tuple[int, ...], follows: Dim) -> Spans:
    """A part's regions on one dim: the weight's regions, in entries counted from the start of each segment.

    A part has a row of its own for a segment's last, short unit, so segments begin at running sums of ceilings:
    segments (576, 128) in units of 128 begin at 0 and 5. Raises SHD212 for a cut inside a unit.
    """
    unit, count = int(follows.unit), int(follows.entries)
    rows = []
    for cut in cuts_by_segment(spans, segments):
        for position in (cut.low, cut.high):
            if position % unit and position != segments[cut.segment]:
                full = sum(segments[: cut.segment]) + position
                raise ShardError(("SHD212", f"{part_name}: dim {dim} cut at {full}, inside a unit of {unit}"))
        offset = sum(ceil_div(size, unit) for size in segments[: cut.segment])
        start, stop = offset + cut.low // unit, offset + ceil_div(cut.high, unit)
        pad = ceil_div(cut.high - cut.low + cut.pad, unit) - (stop - start)
        rows.append((start * count, stop * count, pad * count))
    return normalise(rows)


def cuts_by_segment(spans: Spans, segments: tuple[int, ...]) -> Iterator[SegmentCut]:
    """The spans of a dim, each cut where a segment ends; its padding stays behind its last rows."""
    for start, stop, pad in spans:
        if start == stop:
            yield SegmentCut(0, 0, 0, pad)
        begin = 0
        for segment, size in enumerate(segments):
            low, high = max(start - begin, 0), min(stop - begin, size)
            if low < high:
                yield SegmentCut(segment, low, high, pad if stop <= begin + size else 0)
            begin += size
