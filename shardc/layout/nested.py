"""Concatenations inside a product: `kv_heads * (q | k | v)` has a q, a k and a v for each kv head."""

from __future__ import annotations

from collections.abc import Iterator

from shardc.layout.expr import Binary, Cat, Expr
from shardc.layout.regions import Scope, size


def nested_parts(layout: Expr, scope: Scope) -> Iterator[int]:
    """Rows of each part of each concatenation that stands inside a product; those of a dim's segments are not."""
    match layout:
        case Cat(parts):
            for part in parts:
                yield from nested_parts(part, scope)
        case Binary("*", _, _):
            yield from _inside(layout, 1, scope)


def _inside(layout: Expr, step: int, scope: Scope) -> Iterator[int]:
    """`step` rows to one element of `layout`."""
    match layout:
        case Cat(parts):
            for part in parts:
                yield size(part, scope) * step
                yield from _inside(part, step, scope)
        case Binary("*", left, right):
            yield from _inside(left, step * size(right, scope), scope)
            yield from _inside(right, step, scope)
