"""The ways through a layout: which axes a row of each segment belongs to."""

from __future__ import annotations

from collections.abc import Set

from shardc.layout.expr import Binary, Cat, Expr, Name, Per


def paths(expr: Expr, axes: Set[str]) -> set[frozenset[str]]:
    """The axes that select a row, for each kind of row: `heads * (a | b)` has one, `experts * (heads | 2)` has two."""
    match expr:
        case Name(id):
            return {frozenset({id} & axes)}
        case Per(child, _):
            return {frozenset({child})}
        case Cat(parts):
            return set().union(*(paths(part, axes) for part in parts))
        case Binary("*", left, right):
            return {a | b for a in paths(left, axes) for b in paths(right, axes)}
    return {frozenset()}
