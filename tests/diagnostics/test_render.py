"""All formats from the same findings: order, duplicates, the summary, reading."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shardc.diagnostics import Diagnostic, Label, Span
from shardc.diagnostics.render import render

FIRST = Diagnostic("SHD112", "first", Label(Span("x.yaml", 1, 1, 1, 2), "here"))
SECOND = Diagnostic("SHD112", "second", Label(Span("x.yaml", 2, 1, 2, 2)), severity="warning")
UNSORTED = [SECOND, FIRST, SECOND]


def nothing(file: str) -> None:
    return None


def test_full_ends_with_the_summary() -> None:
    assert render(UNSORTED, "full", summary="1 error in 1 spec", read={"x.yaml": "a: 1\r\nb: 2\r\n"}.get) == (
        "error[SHD112]: first\n"
        "  --> x.yaml:1:1\n"
        "   |\n"
        " 1 | a: 1\n"
        "   | ^ here\n"
        "   |\n"
        "   = more: shardc explain SHD112\n"
        "\n"
        "warning[SHD112]: second\n"
        "  --> x.yaml:2:1\n"
        "   |\n"
        " 2 | b: 2\n"
        "   | ^\n"
        "   |\n"
        "   = more: shardc explain SHD112\n"
        "\n"
        "1 error in 1 spec"
    )


def test_concise_ends_with_the_summary() -> None:
    assert render(UNSORTED, "concise", summary="1 error in 1 spec") == (
        "x.yaml:1:1: error[SHD112] first\nx.yaml:2:1: warning[SHD112] second\n1 error in 1 spec"
    )


def test_formats_for_programs_have_no_summary() -> None:
    report = json.loads(render(UNSORTED, "json", summary="1 error in 1 spec"))
    assert [found["message"] for found in report["diagnostics"]] == ["first", "second"]
    assert (report["errors"], report["warnings"]) == (1, 1)
    assert render(UNSORTED, "github", summary="1 error in 1 spec") == (
        "::error title=shardc (SHD112),file=x.yaml,line=1,col=1,endLine=1,endColumn=2::first\n"
        "::warning title=shardc (SHD112),file=x.yaml,line=2,col=1,endLine=2,endColumn=2::second"
    )


def test_colour_is_asked_for() -> None:
    found = Diagnostic("SHD409", "no spec")
    assert render([found], "full", color=True).startswith("\x1b[1;31merror[SHD409]\x1b[0m\x1b[1m: no spec\x1b[0m\n")
    assert "\x1b" not in render([found], "full")
    assert "\x1b" not in render([found], "concise", color=True)


def test_nothing() -> None:
    assert render([], "full") == ""
    assert render([], "full", summary="all well") == "all well"
    assert render([], "concise") == ""
    assert render([], "concise", summary="all well") == "all well"
    assert render([], "github", summary="all well") == ""
    assert json.loads(render([], "json"))["valid"] is True


def test_files_are_read_from_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.yaml").write_bytes(b"\xef\xbb\xbfa: 1\r\n")
    assert render([FIRST], "full").split("\n")[3:5] == [" 1 | a: 1", "   | ^ here"]
    assert render([FIRST], "full", read=nothing).split("\n")[1:] == [
        "  --> x.yaml:1:1",
        "   = more: shardc explain SHD112",
    ]
