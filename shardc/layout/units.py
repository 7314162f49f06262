"""Regions of a weight in the units of its companions: packed words, groups, blocks.

Scales, zero points and packed values follow their weight's regions. A cut has to fall between units; the last unit of
a segment may be short where the format rounds up, so a companion's offset for a segment is a running sum of ceilings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from shardc.layout.regions import Region, Regions, merge


class CutError(Exception):
    """A region that begins or ends inside a unit (SHD212), or a size that is not whole units (SHD213)."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


def entries(segments: tuple[int, ...], unit: int, count: int, ceil: bool) -> int:
    """The companion's full size: `count` for each unit of each segment, the last unit whole too if it may be short."""
    for size in segments:
        if size % unit and not ceil:
            raise CutError("SHD213", f"{size} is not a multiple of {unit}")
    return sum(-(-size // unit) for size in segments) * count


def check_nested(parts: Iterable[int], unit: int) -> None:
    """CutError (SHD213) where a unit would span two parts of a concatenation inside a product, of so many rows each.

    The parts stand close together in the file: there is no room for the rest of a unit between them.
    """
    for size in parts:
        if size % unit:
            raise CutError("SHD213", f"a part of {size} is not a multiple of {unit}: a unit would span two parts")


def in_entries(regions: Regions, segments: tuple[int, ...], unit: int, count: int) -> Regions:
    """`regions` of a dim made of `segments`, in entries, `count` for each `unit` elements; CutError inside a unit."""
    cut = regions if unit == 1 else _in_units(regions, segments, unit)
    return cut if count == 1 else tuple((start * count, stop * count, pad * count) for start, stop, pad in cut)


def _in_units(regions: Regions, segments: tuple[int, ...], unit: int) -> Regions:
    out: list[Region] = []
    for start, stop, pad in regions:
        if start == stop:
            out.append((0, 0, -(-pad // unit)))
        for begin, size, offset in _placed(segments, unit):
            a, b = max(start - begin, 0), min(stop - begin, size)
            if a >= b:
                continue
            if a % unit or (b % unit and b != size):
                cut = begin + (a if a % unit else b)
                raise CutError("SHD212", f"cut at {cut}, inside a unit of {unit}")
            whole = -(-b // unit)
            zeros = pad if begin + b == stop else 0
            out.append((offset + a // unit, offset + whole, -(-(b + zeros) // unit) - whole))
    return merge(out)


def _placed(segments: tuple[int, ...], unit: int) -> Iterator[tuple[int, int, int]]:
    """Each segment: where it begins in the weight, its size there, and where its units begin in the companion."""
    begin = offset = 0
    for size in segments:
        yield begin, size, offset
        begin += size
        offset += -(-size // unit)
