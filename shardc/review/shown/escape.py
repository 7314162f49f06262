"""Text of a spec inside Markdown: it may look like Markdown, HTML or a mention, and must be none of it."""

from __future__ import annotations

import re
from html import escape

from shardc.diagnostics.visible import visible

_RUN = re.compile("`+")
_SPECIAL = re.compile(r"([\\`*\[\]<>#|~@&!])")


def code(text: str) -> str:
    """A code span that stands in a table too; "" for no text."""
    shown = visible(text)
    if not shown:
        return ""
    fence = "`" * (max((len(run) for run in _RUN.findall(shown)), default=0) + 1)
    space = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{space}{shown}{space}{fence}".replace("|", "\\|")


def words(text: str) -> str:
    """Plain words."""
    return _SPECIAL.sub(r"\\\1", visible(text))


def in_html(text: str) -> str:
    """Text of an HTML element."""
    return escape(visible(text))


def fenced(text: str, language: str) -> str:
    """A fenced block, whatever fences the text has."""
    fence = "`" * max(3, max((len(run) for run in _RUN.findall(text)), default=0) + 1)
    return f"{fence}{language}\n{visible(text, keep=chr(10))}\n{fence}"
