"""The library's formats, read for planning."""

from __future__ import annotations

import re
from functools import cache

from shardc.diagnostics import ShardcBug
from shardc.plan.resolved import Format, FormatPart, PartDim
from shardc.spec.library import format_file

_DIM = re.compile(r"(?P<ceil>ceil\()?(?P<role>out|in)(?: / (?P<unit>[1-9][0-9]*))?\)?")


@cache
def format_named(name: str) -> Format:
    """The format of that name; a fault of the library is a bug."""
    parts = format_file(name).parts
    return Format(
        name,
        tuple(FormatPart(p.name, tuple(p.dtypes), tuple(_dim(text) for text in p.shape), p.optional) for p in parts),
    )


def _dim(text: str) -> PartDim:
    found = _DIM.fullmatch(text)
    if found is None:
        raise ShardcBug(f"a format's dim is `out`, `in`, a quotient of one or its ceiling, not `{text}`")
    return PartDim(found["role"], int(found["unit"] or 1), found["ceil"] is not None)
