"""The rules of a SARIF log."""

from __future__ import annotations

from shardc.diagnostics import NAMES
from shardc.diagnostics.sarif_rules import INDEX, LONGEST, rules

TEXT = "## What it checks\n\nAn axis is dealt\nin granules. Every rank gets `n`.\n\n## Why it matters\n\nMuch.\n"


def test_every_code_is_a_rule_in_its_place() -> None:
    listed = rules(lambda code: None)
    assert [rule["id"] for rule in listed] == list(NAMES)
    assert all(listed[index]["id"] == code for code, index in INDEX.items())


def test_a_text_describes_its_rule() -> None:
    rule = rules({"SHD201": TEXT}.get)[INDEX["SHD201"]]
    assert rule == {
        "id": "SHD201",
        "name": "indivisible-axis",
        "shortDescription": {"text": "An axis is dealt in granules."},
        "fullDescription": {"text": "An axis is dealt in granules. Every rank gets `n`."},
        "help": {
            "text": "An axis is dealt in granules. Every rank gets `n`.\n\nMore: `shardc explain SHD201`",
            "markdown": TEXT + "\nMore: `shardc explain SHD201`\n",
        },
    }


def test_without_a_text_the_name_does() -> None:
    rule = rules(lambda code: None)[0]
    assert rule["shortDescription"] == rule["fullDescription"] == {"text": "yaml-syntax"}
    assert rule["help"]["text"].startswith("yaml-syntax\n")  # type: ignore[index]


def test_descriptions_are_cut() -> None:
    rule = rules(lambda code: "word " * 1000)[0]
    assert [len(rule[key]["text"]) for key in ("shortDescription", "fullDescription")] == [LONGEST] * 2  # type: ignore[index]
