"""The format `json`."""

from __future__ import annotations

import json
from fractions import Fraction

from shardc.diagnostics import Diagnostic, Label, Span, Value
from shardc.diagnostics.render_json import render_json

FULL = Diagnostic(
    "SHD201",
    "4 kv_heads cannot be dealt to 8 tp ranks",
    Label(Span("x.yaml", 14, 13, 14, 40), "4 over 8"),
    related=(Label(Span("x.yaml", 31, 31, 31, 50), "512 rows"),),
    values=(Value("kv", 4, "c.json:9"), Value("tied", True)),
    valid={"tp": (1, 2, 4)},
    notes=("note",),
    help="share",
    same_cause=("v_proj.weight (line 32)",),
)


def test_a_finding_with_everything() -> None:
    assert render_json([FULL]) == (
        """\
{
  "format_version": 1,
  "valid": false,
  "errors": 1,
  "warnings": 0,
  "hints": 0,
  "diagnostics": [
    {
      "code": "SHD201",
      "name": "indivisible-axis",
      "severity": "error",
      "message": "4 kv_heads cannot be dealt to 8 tp ranks",
      "file": "x.yaml",
      "span": {
        "file": "x.yaml",
        "line": 14,
        "col": 13,
        "end_line": 14,
        "end_col": 40
      },
      "label": "4 over 8",
      "labels": [
        {
          "span": {
            "file": "x.yaml",
            "line": 31,
            "col": 31,
            "end_line": 31,
            "end_col": 50
          },
          "text": "512 rows"
        }
      ],
      "values": {
        "kv": 4,
        "tied": true
      },
      "sources": {
        "kv": "c.json:9",
        "tied": ""
      },
      "valid": {
        "tp": [
          1,
          2,
          4
        ]
      },
      "help": "share",
      "same_cause": [
        "v_proj.weight (line 32)"
      ],
      "notes": [
        "note"
      ]
    }
  ]
}"""
    )


def test_a_bare_finding_has_every_key() -> None:
    (found,) = json.loads(render_json([Diagnostic("SHD401", "m")]))["diagnostics"]
    assert found == {
        "code": "SHD401",
        "name": "missing-tensor",
        "severity": "error",
        "message": "m",
        "file": None,
        "span": None,
        "label": "",
        "labels": [],
        "values": {},
        "sources": {},
        "valid": {},
        "help": "",
        "same_cause": [],
        "notes": [],
    }


def test_a_finding_about_a_file_has_no_place_in_it() -> None:
    (found,) = json.loads(render_json([Diagnostic("SHD501", "m", about="generated/x.py")]))["diagnostics"]
    assert (found["file"], found["span"]) == ("generated/x.py", None)


def test_only_errors_make_it_invalid() -> None:
    report = json.loads(
        render_json([Diagnostic("SHD411", "w", severity="warning"), Diagnostic("SHD111", "h", severity="hint")])
    )
    assert (report["valid"], report["errors"], report["warnings"], report["hints"]) == (True, 0, 1, 1)


def test_nothing() -> None:
    assert json.loads(render_json([])) == {
        "format_version": 1,
        "valid": True,
        "errors": 0,
        "warnings": 0,
        "hints": 0,
        "diagnostics": [],
    }


def test_the_text_is_ascii_and_holds_any_value() -> None:
    shown = render_json([Diagnostic("SHD110", "\x1b\u202e\n", values=(Value("half", Fraction(1, 2)),))])
    assert r'"message": "\u001b\u202e\n"' in shown
    assert '"half": "1/2"' in shown
    assert shown.isascii()
