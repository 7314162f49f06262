"""Colour as a function from text to text, so that a layout is written once for terminals and files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

Role = Literal["error", "warning", "hint", "gutter", "message"]
Style = Callable[[str, Role], str]

_SGR: dict[Role, str] = {"error": "1;31", "warning": "1;33", "hint": "1;36", "gutter": "1;34", "message": "1"}


def plain(text: str, role: Role) -> str:
    """`text` as it is."""
    return text


def ansi(text: str, role: Role) -> str:
    """`text` in the colour of `role`: red, yellow, cyan, blue, or bold."""
    return f"\x1b[{_SGR[role]}m{text}\x1b[0m"
