"""The format `sarif`: valid by the published schema and by GitHub's requirements, and safe to show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from shardc.diagnostics import Diagnostic, Label, Span
from shardc.diagnostics.render_sarif import render_sarif
from shardc.diagnostics.repository import Repository
from tests.diagnostics.sarif_schema import missing_for_github, read_log, sarif_schema

HERE = Repository(Path().resolve())
FULL = Diagnostic(
    "SHD201",
    "4 kv_heads cannot be dealt to 8 tp ranks",
    Label(Span("specs/x.yaml", 14, 13, 14, 40), "4 over 8"),
    related=(Label(Span("specs/x.yaml", 31, 31, 31, 50), "512 rows"), Label(Span("a [b].yaml", 1, 1, 2, 3), "here")),
    valid={"tp": (1, 2, 4)},
    help="share",
)


def log_of(*findings: Diagnostic, repository: Repository = HERE) -> Any:
    return read_log(render_sarif(findings, read=lambda file: None, repository=repository, explain=lambda code: None))


def result(finding: Diagnostic, repository: Repository = HERE) -> Any:
    (found,) = log_of(finding, repository=repository)["runs"][0]["results"]
    return found


def message(finding: Diagnostic) -> str:
    text: str = result(finding)["message"]["text"]
    return text


def test_a_finding_with_everything() -> None:
    found = result(FULL)
    root = "%SRCROOT%"
    assert {**found, "partialFingerprints": None} == {
        "ruleId": "SHD201",
        "ruleIndex": 18,
        "level": "error",
        "message": {
            "text": "4 kv_heads cannot be dealt to 8 tp ranks\n"
            "[line 31](1): 512 rows\n"
            "[a \\[b\\].yaml, line 1](2): here\n"
            "valid tp: 1, 2, 4\n"
            "help: share"
        },
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "specs/x.yaml", "uriBaseId": root},
                    "region": {"startLine": 14, "startColumn": 13, "endLine": 14, "endColumn": 40},
                },
                "message": {"text": "4 over 8"},
            }
        ],
        "partialFingerprints": None,
        "relatedLocations": [
            {
                "id": 1,
                "physicalLocation": {
                    "artifactLocation": {"uri": "specs/x.yaml", "uriBaseId": root},
                    "region": {"startLine": 31, "startColumn": 31, "endLine": 31, "endColumn": 50},
                },
                "message": {"text": "512 rows"},
            },
            {
                "id": 2,
                "physicalLocation": {
                    "artifactLocation": {"uri": "a%20%5Bb%5D.yaml", "uriBaseId": root},
                    "region": {"startLine": 1, "startColumn": 1, "endLine": 2, "endColumn": 3},
                },
                "message": {"text": "here"},
            },
        ],
    }
    assert set(found["partialFingerprints"]) == {"primaryLocationLineHash"}


def test_the_log_says_what_it_counts_by_and_nothing_of_the_run() -> None:
    log = log_of()
    (run,) = log["runs"]
    assert {key: value for key, value in log.items() if key != "runs"} == {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
    }
    assert run.keys() == {"tool", "columnKind", "originalUriBaseIds", "results"}
    assert (run["columnKind"], run["results"]) == ("unicodeCodePoints", [])
    assert run["tool"]["driver"].keys() == {"name", "rules"}
    assert run["originalUriBaseIds"].keys() == {"%SRCROOT%"}


def test_levels() -> None:
    found = log_of(
        Diagnostic("SHD411", "w", severity="warning", about="x"), Diagnostic("SHD220", "h", severity="hint", about="x")
    )
    assert [one["level"] for one in found["runs"][0]["results"]] == ["warning", "note"]


def test_a_finding_about_a_file_stands_at_its_beginning() -> None:
    (location,) = result(Diagnostic("SHD501", "generated/x.py: out of date", about="generated/x.py"))["locations"]
    assert location == {
        "physicalLocation": {
            "artifactLocation": {"uri": "generated/x.py", "uriBaseId": "%SRCROOT%"},
            "region": {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 1},
        }
    }


def test_a_file_outside_of_the_repository(tmp_path: Path) -> None:
    found = result(Diagnostic("SHD406", "m", about="/data/a b/config.json"), Repository(tmp_path))
    assert found["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "file:///data/a%20b/config.json"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[click](https://x.example)", "[click] (https://x.example)"),
        ("layers.{0}.w is in the file", "layers.{{0}}.w is in the file"),
        ("write `{size: n}` or [4, 4]", "write `{size: n}` or [4, 4]"),
        ("a\u202eb\x1b[2J", r"a\u202eb\x1b[2J"),
        ("two\nlines", "two\nlines"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
    ],
)
def test_words_of_a_spec_make_no_link_and_no_placeholder(text: str, shown: str) -> None:
    assert message(Diagnostic("SHD402", text, about="x", help=text)) == f"{shown}\nhelp: {shown}"
    labelled = Diagnostic("SHD402", "m", Label(Span("x", 1, 1, 1, 2), text), (Label(Span("x", 2, 1, 2, 2), text),))
    found = result(labelled)
    assert found["locations"][0]["message"]["text"] == shown
    assert found["relatedLocations"][0]["message"]["text"] == shown
    assert found["message"]["text"] == f"m\n[line 2](1): {shown}"


def test_the_schema_refuses_what_is_wrong() -> None:
    log = json.loads(render_sarif([FULL], read=lambda file: None, repository=HERE, explain=lambda code: None))
    log["runs"][0]["results"][0]["level"] = "hint"
    assert not jsonschema.Draft7Validator(sarif_schema()).is_valid(log)


@pytest.mark.parametrize("key", ["locations", "region", "partialFingerprints"])
def test_what_github_requires_is_looked_for(key: str) -> None:
    log = json.loads(render_sarif([FULL], read=lambda file: None, repository=HERE, explain=lambda code: None))
    found = log["runs"][0]["results"][0]
    match key:
        case "locations":
            found["locations"] = []
        case "region":
            del found["locations"][0]["physicalLocation"]["region"]["endColumn"]
        case _:
            found["partialFingerprints"]["primaryLocationLineHash"] = ""
    assert list(missing_for_github(log))
