"""Whether a header is right, judged column by column: 100,000s of entries are not looked at one by one.

What is wrong with one that is not, stored.py finds entry by entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from operator import sub
from typing import Any, cast

from shardc.checkpoint.headers import FIELDS, Header, as_shape, header
from shardc.spec.dtypes import SIZES, nbytes


def tidy_headers(entries: Mapping[str, object], data_bytes: int) -> dict[str, Header] | None:
    """The header of each tensor; None unless every entry is sound and together they tile the bytes of the data."""
    if not _all_are(dict, entries.values()):
        return None
    dicts = cast("list[dict[str, Any]]", list(entries.values()))
    columns: Iterator[list[Any]] = ([entry.get(field) for entry in dicts] for field in FIELDS)
    dtypes, shapes, offsets = columns
    if set(map(len, dicts)) - {len(FIELDS)} or not _all_are(str, dtypes) or not _all_are(list, chain(shapes, offsets)):
        return None
    flat = list(chain.from_iterable(offsets))
    if set(map(len, offsets)) - {2} or not _all_are(int, chain(flat, chain.from_iterable(shapes))):
        return None
    kinds = list(zip(dtypes, map(tuple, shapes), strict=True))
    distinct = set(kinds)
    if not all(dtype in SIZES and as_shape(list(shape)) is not None for dtype, shape in distinct):
        return None
    begins, ends = flat[::2], flat[1::2]
    sizes = {kind: nbytes(*kind) for kind in distinct}
    if list(map(sub, ends, begins)) != list(map(sizes.__getitem__, kinds)):
        return None
    # No size is negative. Where each tensor begins at the end of another, or at 0, and the last end is the file's,
    # every byte has one more begin before it than ends: it is one tensor's.
    if [0, *sorted(ends)] != [*sorted(begins), data_bytes]:
        return None
    headers = {kind: header(*kind) for kind in distinct}
    return dict(zip(entries, map(headers.__getitem__, kinds), strict=True))


def _all_are(kind: type, values: Iterable[object]) -> bool:
    """Whether values are of exactly this type: True is no int."""
    return set(map(type, values)) <= {kind}
