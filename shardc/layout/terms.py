"""Sums and products of formulas, without the zeros and ones that change nothing."""

from __future__ import annotations

from shardc.layout.expr import Binary, Expr, Num

ZERO, ONE = Num(0), Num(1)


def add(a: Expr, b: Expr) -> Expr:
    return b if a == ZERO else a if b == ZERO else Binary("+", a, b)


def mul(a: Expr, b: Expr) -> Expr:
    if ZERO in (a, b):
        return ZERO
    return b if a == ONE else a if b == ONE else Binary("*", a, b)
