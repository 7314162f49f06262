"""Phrases that several formats and commands share."""

from __future__ import annotations

import json

from shardc.diagnostics.diagnostic import Diagnostic, Span


def word(value: object) -> str:
    """A value as config.json spells it (`true`, `null`, `[1, 2]`), a string without quotes."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def valid_choices(diagnostic: Diagnostic) -> list[str]:
    """`valid tp: 1, 2, 4` for each mesh dim (or other choice) of which the finding knows the legal values."""
    return [f"valid {name}: {', '.join(map(word, values)) or 'none'}" for name, values in diagnostic.valid.items()]


def plural(count: int, word: str) -> str:
    """`1 error`, `1,024 tensors`"""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def location(span: Span) -> str:
    """`specs/x.yaml:7:5`, as editors and terminals link it."""
    return f"{span.file}:{span.line}:{span.col}"


def paragraphs(diagnostic: Diagnostic) -> list[str]:
    """What a finding says where there is room for its words alone: message, legal values, next step."""
    help = [f"help: {diagnostic.help}"] if diagnostic.help else []
    return [diagnostic.message, *valid_choices(diagnostic), *help]
