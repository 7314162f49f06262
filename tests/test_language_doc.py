"""The worked examples of docs/language.md are true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shardc.layout.parse import parse
from shardc.layout.regions import Scope, regions
from shardc.layout.split import Dealing, deal

LANGUAGE = Path(__file__).parent.parent / "docs" / "language.md"
ROW = re.compile(r"^\| `(?P<formula>.+?)` \| [^|]+ \| (?P<rows>\d+\.\.\d+(?:, \d+\.\.\d+)*) \|$", re.MULTILINE)
EXAMPLES = [(row["formula"].replace(r"\|", "|"), row["rows"]) for row in ROW.finditer(LANGUAGE.read_text())]
SPLITS = {axis: deal(axis, size, "tp", 2, Dealing()) for axis, size in {"heads": 4, "kv_heads": 2, "inter": 6}.items()}


def test_all_examples_are_found() -> None:
    assert len(EXAMPLES) == 7


@pytest.mark.parametrize(("formula", "rows"), EXAMPLES)
def test_what_rank_1_of_2_keeps(formula: str, rows: str) -> None:
    kept = regions(parse(formula), Scope({"head_dim": 8}, SPLITS, {"tp": 1}))
    assert ", ".join(f"{start}..{stop}" for start, stop, _ in kept) == rows
