"""One form for all layouts that cut a dim alike: `heads * 2 * (d / 2)` and `heads * d` are equal in it."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from shardc.layout.expr import Binary, Cat, Expr, Name, Per
from shardc.layout.regions import Scope, size


class Repeated(Struct, frozen=True):
    """`inner`, once for each of a number, of an axis' elements, or of `child per parent`."""

    by: int | str | tuple[str, str]
    inner: NormalForm


NormalForm: TypeAlias = int | Repeated | tuple["NormalForm", ...]


def normal_form(layout: Expr, scope: Scope, inner: NormalForm = 1) -> NormalForm:
    """The layout with `inner` for each of its elements: a number of rows, a repetition, or segments."""
    match layout:
        case Name(id) if id in scope.splits:
            return Repeated(id, inner)
        case Per(child, parent):
            return Repeated((child, parent), inner)
        case Cat(parts):
            return _joined([normal_form(part, scope, inner) for part in parts])
        case Binary("*", left, right):
            return normal_form(left, scope, normal_form(right, scope, inner))
    return _times(size(layout, scope), inner)


def _times(count: int, inner: NormalForm) -> NormalForm:
    match inner:
        case int():
            return count * inner
        case Repeated(int(by), within):
            return _times(count * by, within)
    return inner if count == 1 else Repeated(count, inner)


def _joined(segments: list[NormalForm]) -> NormalForm:
    out: list[NormalForm] = []
    for segment in segments:
        for part in segment if isinstance(segment, tuple) else (segment,):
            last = out[-1] if out else None
            if isinstance(part, int) and isinstance(last, int):
                out[-1] = last + part
            else:
                out.append(part)
    return out[0] if len(out) == 1 else tuple(out)
