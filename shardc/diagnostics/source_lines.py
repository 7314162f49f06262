"""The files that labels point into, as lines."""

from __future__ import annotations

import re
from pathlib import Path

# The line breaks of YAML 1.1; `str.splitlines` knows more and would count other lines than the parser did.
_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_LARGEST_EXCERPTED = 16 * 2**20  # bytes; nothing that shardc reads as text is larger


def read_text(file: str) -> str | None:
    """The text of `file` without a byte order mark; None where there is nothing to quote (absent, not text-sized)."""
    path = Path(file)
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST_EXCERPTED:
            return None
        return path.read_bytes().decode("utf-8-sig", errors="replace")
    except OSError:
        return None


def split_lines(text: str) -> list[str]:
    """The lines of `text` without their breaks: LF, CRLF, CR, and Unicode's."""
    return _BREAK.split(text)
