"""The format `concise`."""

from __future__ import annotations

from shardc.diagnostics import Diagnostic, Label, Span
from shardc.diagnostics.render_concise import render_concise

LABEL = Label(Span("specs/qwen3_moe.yaml", 14, 13, 14, 40))


def test_one_line_a_finding() -> None:
    found = [
        Diagnostic("SHD401", "missing `a`", severity="warning"),
        Diagnostic("SHD201", "4 kv_heads cannot be dealt to 8 tp ranks", LABEL, valid={"tp": (1, 2, 4)}),
        Diagnostic("SHD201", "bad", LABEL, valid={"tp": (1, 2), "ep": (1,)}, severity="hint"),
    ]
    assert render_concise(found).split("\n") == [
        "warning[SHD401] missing `a`",
        "specs/qwen3_moe.yaml:14:13: error[SHD201] 4 kv_heads cannot be dealt to 8 tp ranks (valid tp: 1, 2, 4)",
        "specs/qwen3_moe.yaml:14:13: hint[SHD201] bad (valid tp: 1, 2; valid ep: 1)",
    ]


def test_hostile_text_stays_on_its_line() -> None:
    found = Diagnostic("SHD402", "a\n::error::b\x1b[2J", Label(Span("x\x1b.yaml", 1, 2, 1, 3)), valid={"tp": ("\n",)})
    assert render_concise([found]) == r"x\x1b.yaml:1:2: error[SHD402] a\n::error::b\x1b[2J (valid tp: \n)"


def test_nothing() -> None:
    assert render_concise([]) == ""
