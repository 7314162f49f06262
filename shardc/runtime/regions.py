"""Regions of one dim: which of the file's rows a rank keeps, in the order it keeps them, and the zero rows between."""

from __future__ import annotations

from collections.abc import Iterable

from shardc.runtime.axes import Axis
from shardc.runtime.meshes import MeshDim

Region = tuple[int, int] | tuple[int, int, int]  # (start, stop) or (start, stop, pad): `pad` zero rows follow
Regions = tuple[Region, ...]
Span = tuple[int, int, int]  # a normalised region: (start, stop, pad)
Spans = tuple[Span, ...]


def normalise(regions: Iterable[Region]) -> Spans:
    """The same rows in the fewest spans: neighbours merged, empty regions dropped, their padding kept.

    ((0, 4), (4, 6, 1), (9, 9)) is ((0, 6, 1),).
    """
    spans: list[Span] = []
    for start, stop, *rest in regions:
        pad = sum(rest)
        last_start, last_stop, last_pad = spans[-1] if spans else (0, 0, 0)
        if start < stop and spans and (last_stop, last_pad) == (start, 0):
            spans[-1] = (last_start, stop, pad)
        elif start < stop:
            spans.append((start, stop, pad))
        elif pad:
            spans[-1:] = [(last_start, last_stop, last_pad + pad)]
    return tuple(spans)


def local_size(spans: Spans) -> int:
    """Rows that a rank keeps, padding included."""
    return sum(stop - start + pad for start, stop, pad in spans)


def pieces(spans: Spans) -> list[tuple[int, int, int]]:
    """(source start, source stop, destination start) of every run of real rows."""
    found = []
    place = 0
    for start, stop, pad in spans:
        if start < stop:
            found.append((start, stop, place))
        place += stop - start + pad
    return found


def pads(spans: Spans) -> list[tuple[int, int]]:
    """(start, stop), in the local dim, of every run of zero rows."""
    found = []
    place = 0
    for start, stop, pad in spans:
        place += stop - start
        if pad:
            found.append((place, place + pad))
        place += pad
    return found


def whole_dim(size: int) -> Spans:
    """All rows of a dim."""
    return ((0, size, 0),) if size else ()


def rank0(summed: Axis | MeshDim, size: int) -> Regions:
    """All rows on rank 0, zeros on the others: a row-parallel layer's bias, added before the all-reduce.

    summed: the axis that splits the layer's input. Where every rank has all of it, nothing is reduced, and each has the
    bias. A layer that is not known sums over a mesh dim.
    """
    alone = isinstance(summed, Axis) and summed.replicas == summed.ranks and summed.stop - summed.start == summed.size
    return ((0, size),) if summed.rank == 0 or alone else ((0, 0, size),)
