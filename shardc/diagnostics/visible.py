"""Text from untrusted files, made safe to print: what a terminal would obey or hide is shown as an escape."""

from __future__ import annotations

import unicodedata

# Control, format (bidirectional overrides, zero-width characters), surrogate, line and paragraph separators.
_UNPRINTABLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_ZERO_WIDTH = frozenset({"Mn", "Me"})


def visible(text: str, *, keep: str = "") -> str:
    r"""`text` on one line, each unprintable character that is not in `keep` written as `\n`, `\x1b` or `\u202e`."""
    if text.isprintable():
        return text
    return "".join(char if char in keep else _visible_char(char) for char in text)


def columns(text: str) -> int:
    """How many terminal columns `text` takes, which must have been made visible: wide characters take two."""
    return sum(_char_columns(char) for char in text)


def _visible_char(char: str) -> str:
    if unicodedata.category(char) in _UNPRINTABLE:
        return char.encode("unicode_escape").decode("ascii")
    return char


def _char_columns(char: str) -> int:
    if unicodedata.category(char) in _ZERO_WIDTH:
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1
