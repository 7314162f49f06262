"""The format `github`: workflow commands and their escapes."""

from __future__ import annotations

from pathlib import Path

from shardc.diagnostics import Diagnostic, Label, Span
from shardc.diagnostics.render_github import render_github
from shardc.diagnostics.repository import Repository

HERE = Repository(Path().resolve())


def test_an_error_with_everything() -> None:
    found = Diagnostic(
        "SHD201",
        "4 kv_heads cannot be dealt to 8 tp ranks",
        Label(Span("specs/qwen3_moe.yaml", 14, 13, 14, 40)),
        valid={"tp": (1, 2, 4)},
        help="`if_fewer: replicate`",
    )
    assert render_github([found], HERE) == (
        "::error title=shardc (SHD201),file=specs/qwen3_moe.yaml,line=14,col=13,endLine=14,endColumn=40"
        "::4 kv_heads cannot be dealt to 8 tp ranks%0Avalid tp: 1, 2, 4%0Ahelp: `if_fewer: replicate`"
    )


def test_severities_and_findings_without_a_place() -> None:
    found = [Diagnostic("SHD409", "w", severity="warning"), Diagnostic("SHD111", "h", severity="hint")]
    assert render_github(found, HERE) == "::warning title=shardc (SHD409)::w\n::notice title=shardc (SHD111)::h"


def test_a_span_of_several_lines_has_no_columns() -> None:
    found = Diagnostic("SHD112", "bad", Label(Span("x.yaml", 2, 5, 4, 1)))
    assert render_github([found], HERE) == "::error title=shardc (SHD112),file=x.yaml,line=2,endLine=4::bad"


def test_a_message_cannot_start_a_command() -> None:
    found = Diagnostic("SHD402", "50%\n::set-env name=A::b\r\n::x\x1b[2J", help="a\n::b")
    assert render_github([found], HERE) == (
        "::error title=shardc (SHD402)"
        r"::50%25%0A::set-env name=A::b%0D%0A::x\x1b[2J%0Ahelp: a%0A::b"
    )


def test_a_file_name_cannot_end_its_property() -> None:
    found = Diagnostic("SHD402", "m", Label(Span("a,line=9::x%\n.yaml", 1, 1, 1, 2)))
    assert render_github([found], HERE) == (
        "::error title=shardc (SHD402),file=a%2Cline=9%3A%3Ax%25%0A.yaml,line=1,col=1,endLine=1,endColumn=2::m"
    )


def test_nothing() -> None:
    assert render_github([], HERE) == ""


def test_files_are_named_from_the_root(tmp_path: Path) -> None:
    found = Diagnostic("SHD112", "bad", Label(Span(str(tmp_path / "models" / "specs" / "x.yaml"), 2, 5, 2, 9)))
    shown = render_github([found], Repository(tmp_path.resolve()))
    assert shown == "::error title=shardc (SHD112),file=models/specs/x.yaml,line=2,col=5,endLine=2,endColumn=9::bad"


def test_a_file_elsewhere_is_not_annotated(tmp_path: Path) -> None:
    found = Diagnostic("SHD406", "bad", Label(Span("config.json", 2, 5, 2, 9)))
    assert render_github([found], Repository(tmp_path.resolve())) == (
        "::error title=shardc (SHD406)::config.json:2:5: bad"
    )


def test_a_finding_about_a_whole_file() -> None:
    found = Diagnostic("SHD501", "generated/x.py: out of date", about="generated/x.py", help="run `shardc build`")
    assert render_github([found], HERE) == (
        "::error title=shardc (SHD501),file=generated/x.py::generated/x.py: out of date%0Ahelp: run `shardc build`"
    )
