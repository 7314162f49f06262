"""What tells a finding apart from others when lines have moved."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from shardc.diagnostics.diagnostic import Diagnostic, Span
from shardc.diagnostics.repository import Repository
from shardc.diagnostics.source_lines import split_lines

_DIGITS = 16  # hexadecimal, 64 bits


def fingerprints(
    diagnostics: Iterable[Diagnostic], read: Callable[[str], str | None], repository: Repository
) -> list[str]:
    """`<hash>:<n>` for each finding: of its code, its file, and the lines that it points at (its message where none).

    Blanks at a line's ends don't count, nor where it stands; `n` tells apart findings of one hash, from 1.
    """

    @cache
    def lines_of(file: str) -> list[str]:
        return split_lines(read(file) or "")

    seen: Counter[str] = Counter()
    out = []
    for diagnostic in diagnostics:
        label = diagnostic.label
        pointed = _pointed_at(label.span, lines_of(label.span.file)) if label else []
        parts = [diagnostic.code, repository.uri(diagnostic.file), *(pointed or [diagnostic.message])]
        text = "\0".join(parts).encode("utf-8", "surrogatepass")
        digest = hashlib.sha256(text).hexdigest()[:_DIGITS]
        seen[digest] += 1
        out.append(f"{digest}:{seen[digest]}")
    return out


def _pointed_at(span: Span, lines: Sequence[str]) -> list[str]:
    """The lines of a span, and the text in it where it is within one of them."""
    whole = list(lines[span.line - 1 : span.end_line])
    inside = [whole[0][span.col - 1 : span.end_col - 1]] if len(whole) == 1 else []
    return [line.strip() for line in whole] + inside
