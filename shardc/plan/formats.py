"""The library's formats, read for planning."""

from __future__ import annotations

import re
from functools import cache

from shardc.diagnostics import ShardcBug
from shardc.plan.resolved import Format, FormatFlag, FormatPart, FormatSize, PartDim
from shardc.spec.library import PartFile, format_file

_SIZE = r"[1-9][0-9]*|[a-z][a-z_]*"
_DIM = re.compile(rf"(?P<ceil>ceil\()?(?P<role>out|in)(?: \* (?P<count>{_SIZE}))?(?: / (?P<unit>{_SIZE}))?\)?")


@cache
def format_named(name: str) -> Format:
    """The format of that name; a fault of the library is a bug."""
    file = format_file(name)
    sizes = tuple(FormatSize(size, tuple(fact.key), fact.otherwise) for size, fact in file.sizes.items())
    flags = tuple(FormatFlag(flag, tuple(fact.key or ()), fact.part) for flag, fact in file.flags.items())
    format = Format(name, tuple(_part(part) for part in file.parts), sizes, flags)
    _check(format)
    return format


def _check(format: Format) -> None:
    """Every size and flag is of the format, and one size to a dim: the headers give one number."""
    dims = [dim for part in format.parts for dim in part.dims]
    used = {size for dim in dims for size in (dim.unit, dim.count) if isinstance(size, str)}
    flags = {dim.whole for dim in dims if isinstance(dim.whole, str)}
    parts = {part.name for part in format.parts}
    if used != {size.name for size in format.sizes} or flags != {flag.name for flag in format.flags}:
        raise ShardcBug(f"{format.name}: its dims use {sorted(used | flags)}")
    if any(isinstance(dim.unit, str) and isinstance(dim.count, str) for dim in dims):
        raise ShardcBug(f"{format.name}: two sizes in one dim")
    if any(flag.part and flag.part not in parts for flag in format.flags):
        raise ShardcBug(f"{format.name}: a flag asks for a tensor that it does not have")


def _part(file: PartFile) -> FormatPart:
    dims = tuple(_dim(text, file.input_whole) for text in file.shape)
    return FormatPart(file.name, tuple(file.dtypes), dims, file.optional, tuple(file.values))


def _dim(text: str, input_whole: str | None) -> PartDim:
    if text.isdigit():
        return PartDim(None, 1, count=int(text))
    found = _DIM.fullmatch(text)
    if found is None or (found["ceil"] is None) is text.endswith(")"):
        raise ShardcBug(
            f"a format's dim is a number, or `out * size / size` or its ceiling, or the same of `in`: `{text}`"
        )
    whole = input_whole if input_whole and found["role"] == "in" else False
    return PartDim(found["role"], _size(found["unit"]), found["ceil"] is not None, _size(found["count"]), whole)


def _size(text: str | None) -> int | str:
    return int(text or 1) if text is None or text.isdigit() else text
