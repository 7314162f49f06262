"""Layouts that cut a dim alike have one form, and others have others."""

from __future__ import annotations

import pytest

from shardc.layout.normal_form import NormalForm, Repeated, normal_form
from shardc.layout.parse import parse
from tests.layout.axes import attention


def form(layout: str) -> NormalForm:
    """Of 8 heads within 4 kv heads; head_dim is 8."""
    return normal_form(parse(layout), attention(2, 0))


def test_forms() -> None:
    assert form("3 * head_dim") == 24
    assert form("heads") == Repeated("heads", 1)
    assert form("2 * heads * head_dim") == Repeated(2, Repeated("heads", 8))
    assert form("kv_heads * heads per kv_heads") == Repeated("kv_heads", Repeated(("heads", "kv_heads"), 1))
    assert form("heads | 3 | 4") == (Repeated("heads", 1), 7)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("heads * head_dim", "heads * 2 * (head_dim / 2)"),
        ("heads * head_dim", "heads * (2 | 6)"),
        ("heads * (2 * 4)", "(heads * 2) * 4"),
        ("2 * (3 * heads)", "6 * heads"),
        ("1 * heads", "heads"),
        ("(heads | kv_heads) * 2", "heads * 2 | kv_heads * 2"),
        ("heads | (2 | 3 | kv_heads)", "heads | 5 | kv_heads"),
    ],
)
def test_alike(one: str, other: str) -> None:
    assert form(one) == form(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("heads * 2", "2 * heads"),
        ("heads * 2", "heads * 3"),
        ("heads", "kv_heads * 2"),
        ("heads | heads", "2 * heads"),
        ("heads | 8", "8 | heads"),
        ("heads", "8"),
    ],
)
def test_not_alike(one: str, other: str) -> None:
    assert form(one) != form(other)
