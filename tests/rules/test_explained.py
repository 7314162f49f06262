"""Every code has a long text, and its example is answered with that code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shardc.checkpoint import read_checkpoint
from shardc.diagnostics import NAMES, Diagnostic
from shardc.plan.evidence import Evidence
from shardc.rules.check import check_spec
from shardc.rules.explained import Explanation, codes, explanation, page
from shardc.source import loads
from tests.support import NOT_OF_CHECK, ROOT

HEADINGS = ["What it checks", "Why it matters", "Example", "Fixes", "See also"]


def explained(code: str) -> Explanation:
    found = explanation(code)
    assert found is not None
    return found


def findings(example: Explanation, folder: Path) -> list[Diagnostic]:
    """What `shardc check` says of an example, its JSON recorded as the checkpoint `example`."""
    text = example.example("yaml")
    assert text is not None
    document, faults = loads(text, "specs/example.yaml")
    if document is None:
        return faults
    recorded = example.example("json")

    def find(name: str) -> tuple[Evidence | None, list[Diagnostic]]:
        if recorded is None:
            return None, []
        data = json.loads(recorded)
        path = folder / f"{name}.json"
        path.write_text(json.dumps(data if "tensor_groups" in data else {"config": data, "tensor_groups": []}))
        checkpoint, broken = read_checkpoint(path)
        assert checkpoint is not None, broken
        return Evidence(f"target {name}", checkpoint.config.data, checkpoint.headers or None), []

    return check_spec(document, find).findings


def test_every_code_has_a_text_and_the_reverse() -> None:
    assert codes() == sorted(NAMES)


@pytest.mark.parametrize("code", codes())
def test_has_its_sections(code: str) -> None:
    lines = explained(code).text.splitlines()
    assert [line.removeprefix("## ") for line in lines if line.startswith("## ")] == HEADINGS
    assert max(map(len, lines)) <= 140


@pytest.mark.parametrize("code", codes())
def test_refers_to_codes_that_exist(code: str) -> None:
    named = explained(code).text.rpartition("## See also")[2].replace(",", " ").split()
    assert named
    assert set(named) <= NAMES.keys() - {code}


@pytest.mark.parametrize("code", sorted(NAMES.keys() - NOT_OF_CHECK))
def test_example_is_answered_with_the_code(code: str, tmp_path: Path) -> None:
    found = findings(explained(code), tmp_path)
    assert [f.code for f in found] == [code] * len(found)
    assert found


@pytest.mark.parametrize("code", sorted(NOT_OF_CHECK))
def test_example_in_a_console_names_the_code(code: str) -> None:
    shown = explained(code).example("console")
    assert shown is not None
    assert shown.startswith("$ ")
    assert code in shown


def test_the_page_of_all_texts_is_current() -> None:
    assert (ROOT / "docs" / "rules.md").read_text() == page(), "run `shardc explain --markdown > docs/rules.md`"
    assert page().count("\n## SHD") == len(NAMES)
