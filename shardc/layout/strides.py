"""How many rows one element of an axis covers."""

from __future__ import annotations

from shardc.layout.expr import Binary, Cat, Expr, Name, Per
from shardc.layout.regions import Scope, size


def strides(expr: Expr, axis: str, scope: Scope) -> list[int]:
    """Rows of one element of `axis`, for each place where it occurs in the layout: the size of all to its right."""
    match expr:
        case Name(id):
            return [1] if id == axis else []
        case Per(child, _):
            return [1] if child == axis else []
        case Cat(parts):
            return [stride for part in parts for stride in strides(part, axis, scope)]
        case Binary("*", left, right):
            step = size(right, scope)
            return [stride * step for stride in strides(left, axis, scope)] + strides(right, axis, scope)
    return []
