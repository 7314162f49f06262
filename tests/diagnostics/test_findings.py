"""The order and number of findings."""

from __future__ import annotations

from shardc.diagnostics import Diagnostic, Label, Span
from shardc.diagnostics.findings import counts, in_order


def at(file: str, line: int, col: int, message: str = "m", code: str = "SHD112") -> Diagnostic:
    return Diagnostic(code, message, Label(Span(file, line, col, line, col + 1)))


def test_by_file_line_column_code_and_message_those_without_a_place_first() -> None:
    ordered = [
        Diagnostic("SHD409", "m"),
        at("a", 2, 9),
        at("a", 10, 1),
        at("a", 10, 2, code="SHD111"),
        at("a", 10, 2, "a"),
        at("a", 10, 2, "b"),
        at("b", 1, 1),
    ]
    assert in_order(reversed(ordered)) == ordered


def test_exact_duplicates_are_said_once() -> None:
    one = Diagnostic("SHD201", "m", valid={"tp": (1, 2)})
    same = Diagnostic("SHD201", "m", valid={"tp": (1, 2)})
    other = Diagnostic("SHD201", "m", valid={"tp": (1, 4)})
    assert in_order([one, other, same, one]) == [one, other]


def test_counts() -> None:
    found = [Diagnostic("SHD201", "e"), Diagnostic("SHD201", "e"), Diagnostic("SHD408", "w", severity="warning")]
    assert counts(found) == (2, 1, 0)
    assert counts([Diagnostic("SHD111", "h", severity="hint")]).hints == 1
    assert counts([]) == (0, 0, 0)
