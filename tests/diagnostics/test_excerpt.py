"""Quoted lines and the markers under them."""

from __future__ import annotations

import pytest

from shardc.diagnostics.diagnostic import Label, Span
from shardc.diagnostics.excerpt import Gutter, Mark, excerpt
from shardc.diagnostics.style import plain


def label(line: int, col: int, end_col: int, text: str = "", end_line: int | None = None) -> Label:
    return Label(Span("x.yaml", line, col, end_line or line, end_col), text)


def drawn(lines: list[str], primary: Label, *related: Label) -> list[str]:
    marks = [Mark(primary, True, "error"), *(Mark(other, False, "error") for other in related)]
    return list(excerpt(lines, marks, Gutter(2, plain)))


def test_labels_of_one_line_share_a_row_the_rightmost_text_beside_it() -> None:
    source = "dt_bias: {shape: [kda_heads * head_dim], shard: head_rows}"
    assert drawn([source], label(1, 49, 58, "one row a head"), label(1, 19, 39, "128 rows a head (head_dim)")) == [
        " 1 | dt_bias: {shape: [kda_heads * head_dim], shard: head_rows}",
        "   |                   --------------------          ^^^^^^^^^ one row a head",
        "   |                   128 rows a head (head_dim)",
    ]


def test_texts_to_the_left_wait_under_a_stem() -> None:
    shown = drawn(["aa bb cc dd"], label(1, 4, 6, "B"), label(1, 1, 3, "A"), label(1, 7, 9), label(1, 10, 12, "D"))
    assert shown == [
        " 1 | aa bb cc dd",
        "   | -- ^^ -- -- D",
        "   | |  B",
        "   | A",
    ]


def test_overlapping_and_touching_labels_have_rows_of_their_own() -> None:
    assert drawn(["abcdef"], label(1, 3, 5, "part"), label(1, 1, 7, "all"), label(1, 1, 3, "before")) == [
        " 1 | abcdef",
        "   |   ^^ part",
        "   | ------ all",
        "   | -- before",
    ]


def test_lines_are_quoted_in_order_with_dots_where_some_are_left_out() -> None:
    assert drawn(["a", "b", "c", "d"], label(4, 1, 2), label(1, 1, 2), label(2, 1, 2)) == [
        " 1 | a",
        "   | -",
        " 2 | b",
        "   | -",
        "...",
        " 4 | d",
        "   | ^",
    ]


def test_a_span_of_several_lines_is_underlined_to_the_end_of_its_first() -> None:
    assert drawn(["a: [1,  ", "  2]"], label(1, 4, 5, "here", end_line=2)) == [" 1 | a: [1,", "   |    ^^^ here"]


@pytest.mark.parametrize("line", [3, 40, 0])
def test_a_line_that_the_file_does_not_have_is_empty(line: int) -> None:
    assert drawn(["a", "b"], label(line, 7, 9, "expected `]`")) == [f"{line:>2} |", "   | ^ expected `]`"]


def test_a_label_beyond_the_end_of_its_line_stands_after_it() -> None:
    assert drawn(["abc"], label(1, 9, 12, "here")) == [" 1 | abc", "   |    ^ here"]


def test_an_empty_span_is_one_column_wide() -> None:
    assert drawn(["abc"], label(1, 2, 2)) == [" 1 | abc", "   |  ^"]
    assert drawn(["abc"], label(1, 2, 1)) == [" 1 | abc", "   |  ^"]


def test_markers_stand_under_their_text_whatever_its_width() -> None:
    assert drawn(["\ta: 名e\u0301x"], label(1, 5, 6, "wide"), label(1, 8, 9)) == [
        " 1 |     a: 名e\u0301x",
        "   |        ^^ -",
        "   |        wide",
    ]


def test_a_long_line_is_cut_around_the_primary_label() -> None:
    source = "a" * 500 + "key" + "b" * 500
    shown = drawn([source], label(1, 501, 504, "here"), label(1, 1, 3, "left"), label(1, 990, 999, "right"))
    assert shown == [
        " 1 | …" + "a" * 78 + "key" + "b" * 79 + "…",
        "   | -" + " " * 78 + "^^^" + " " * 79 + "- right",
        "   | |" + " " * 78 + "here",
        "   | left",
    ]


def test_without_the_primary_label_a_long_line_is_cut_around_its_first() -> None:
    assert drawn(["x", "a" * 160 + "key"], label(1, 1, 2), label(2, 161, 164)) == [
        " 1 | x",
        "   | ^",
        " 2 | …" + "a" * 157 + "key",
        "   |  " + " " * 157 + "---",
    ]
