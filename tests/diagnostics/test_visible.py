"""Escapes and widths of text from untrusted files."""

from __future__ import annotations

import pytest

from shardc.diagnostics.visible import columns, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain: ünïcode 名 🚀", "plain: ünïcode 名 🚀"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("\x9b31mred", r"\x9b31mred"),
        ("a\tb\r\nc\x00\x7f", r"a\tb\r\nc\x00\x7f"),
        ("a\u202eb\u2066c\u200bd", r"a\u202eb\u2066c\u200bd"),
        ("a\u2028b\u2029c", r"a\u2028b\u2029c"),
        ("\ud800", r"\ud800"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_kept_characters_stay() -> None:
    assert visible("a\nb\x1b", keep="\n") == "a\nb\\x1b"


def test_columns() -> None:
    assert columns("abc") == 3
    assert columns("名前") == 4
    assert columns("ｱ") == 1
    assert columns("e\u0301") == 1
