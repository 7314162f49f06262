"""Fingerprints stay when lines move, and change when the line does."""

from __future__ import annotations

from pathlib import Path

from shardc.diagnostics import Diagnostic, Label, Span
from shardc.diagnostics.fingerprints import fingerprints
from shardc.diagnostics.repository import Repository

HERE = Repository(Path().resolve())
TEXT = "axes:\n  heads: {size: n_heads}\n"


def at(line: int, col: int = 10, end_col: int = 25, message: str = "m", code: str = "SHD201") -> Diagnostic:
    return Diagnostic(code, message, Label(Span("x.yaml", line, col, line, end_col)))


def of(text: str, *findings: Diagnostic) -> list[str]:
    return fingerprints(findings, {"x.yaml": text}.get, HERE)


def test_one_is_sixteen_digits_and_a_number() -> None:
    assert of(TEXT, at(2)) == ["b3a75af36b2da272:1"]


def test_lines_above_and_other_words_change_nothing() -> None:
    before = of(TEXT, at(2))
    assert of("# A comment.\n\n" + TEXT, at(4, message="other numbers")) == before
    assert of(TEXT.replace("  heads", "    heads"), at(2, 12, 27)) == before


def test_the_line_the_place_in_it_the_code_and_the_file_count() -> None:
    other_file = Diagnostic("SHD201", "m", Label(Span("y.yaml", 2, 10, 2, 25)))
    found = [
        *of(TEXT, at(2)),
        *of(TEXT.replace("n_heads", "m_heads"), at(2)),
        *of(TEXT, at(2, 3, 8)),
        *of(TEXT, at(2, code="SHD204")),
        *fingerprints([other_file], {"y.yaml": TEXT}.get, HERE),
    ]
    assert len(set(found)) == len(found)


def test_findings_alike_are_numbered() -> None:
    first, second, other = of(TEXT, at(2), at(2, message="again"), at(1, 1, 5))
    assert (first[:-1], first[-2:], second[-2:]) == (second[:-1], ":1", ":2")
    assert other[-2:] == ":1"


def test_without_a_place_or_a_text_the_message_counts() -> None:
    about = [Diagnostic("SHD501", message, about="generated/x.py") for message in ("a", "b")]
    assert len(set(fingerprints(about, {}.get, HERE))) == 2
    unread = fingerprints([at(2, message="a"), at(2, message="b")], {}.get, HERE)
    assert len({mark[:-2] for mark in unread}) == 2


def test_several_lines() -> None:
    several = Diagnostic("SHD112", "m", Label(Span("x.yaml", 1, 1, 2, 26)))
    assert of(TEXT, several) == of("\n" + TEXT, Diagnostic("SHD112", "m", Label(Span("x.yaml", 2, 1, 3, 26))))
    assert of(TEXT, several) != of(TEXT + "x", Diagnostic("SHD112", "m", Label(Span("x.yaml", 1, 1, 3, 2))))
