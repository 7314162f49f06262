"""Printing one line: its window and its screen columns."""

from __future__ import annotations

from shardc.diagnostics.shown_line import show_line


def test_a_short_line_is_shown_whole() -> None:
    shown = show_line("a" * 160, (0, 1))
    assert shown.text == "a" * 160
    assert (shown.column(0), shown.column(159), shown.column(160), shown.column(999)) == (0, 159, 160, 160)


def test_tabs_wide_characters_and_escapes_move_what_follows() -> None:
    shown = show_line("\t名\x1b.", (0, 1))
    assert shown.text == "    名\\x1b."
    assert [shown.column(index) for index in range(5)] == [0, 4, 6, 10, 11]


def test_a_focus_at_an_end_leaves_no_room_unused() -> None:
    line = "".join(chr(ord("a") + index % 26) for index in range(400))
    assert show_line(line, (0, 3)).text == line[:160] + "…"
    assert show_line(line, (398, 400)).text == "…" + line[240:]


def test_a_focus_longer_than_the_window_is_shown_from_its_start() -> None:
    line = "." * 50 + "x" * 300 + "." * 50
    assert show_line(line, (50, 350)).text == "…" + "x" * 160 + "…"


def test_what_is_cut_off_is_at_the_cut() -> None:
    shown = show_line("." * 1000, (500, 502))
    assert shown.first == 421
    assert (shown.column(0), shown.column(420), shown.column(421), shown.column(1000)) == (0, 0, 1, 161)
