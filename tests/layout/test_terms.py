"""Sums and products of formulas that stay short."""

from __future__ import annotations

from shardc.layout.expr import Name
from shardc.layout.parse import parse
from shardc.layout.terms import ONE, ZERO, add, mul

A, B = Name("a"), Name("b")


def test_nothing_is_added_and_nothing_multiplied() -> None:
    assert (add(ZERO, A), add(A, ZERO), add(A, B)) == (A, A, parse("a + b"))
    assert (mul(ONE, A), mul(A, ONE), mul(A, B)) == (A, A, parse("a * b"))
    assert (mul(ZERO, A), mul(A, ZERO)) == (ZERO, ZERO)
