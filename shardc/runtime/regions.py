"""Regions of one dim: which of the file's rows a rank keeps, in the order it keeps them, and the zero rows between."""

from __future__ import annotations

from collections.abc import Iterable

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


def rank0(mesh_dim: MeshDim, size: int) -> Regions:
    """All rows on rank 0, zeros on the others: a row-parallel layer's bias, added before the all-reduce."""
    return ((0, size),) if mesh_dim.rank == 0 else ((0, 0, size),)
