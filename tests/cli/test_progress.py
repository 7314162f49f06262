"""A bar for people, and silence for programs."""

from __future__ import annotations

import io
import sys

import pytest

from shardc.cli.progress import progress_bar


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def unasked() -> int:
    raise AssertionError("nobody sees it")


def test_silent_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress_bar("cutting", unasked) as progress:
        progress(5)
    assert sys.stderr.getvalue() == ""  # type: ignore[attr-defined]


def test_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "100")
    with progress_bar("cutting", lambda: 4_000_000_000) as progress:
        progress(1_000_000_000)
        progress(3_000_000_000)
    shown = terminal.getvalue()
    assert "cutting" in shown
    assert "4.0/4.0 GB" in shown
