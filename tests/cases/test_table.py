"""The tables of README.md: what each case is answered with, and which cases wait.

`SHARDC_UPDATE=1 pytest tests/cases/test_table.py` writes the first one.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from shardc.diagnostics import NAMES
from tests.cases.support import Case, read_cases

README = Path(__file__).parent / "README.md"
ALL = 97
HEAD = "| case | thread | answer |\n|---|---|---|\n"


def answer(case: Case) -> str:
    """`ok`, or the code that the case is answered with, which the other tests check."""
    expect = case.expect
    if expect["result"] == "ok":
        return f"ok, with a warning: {expect['warning']} {NAMES[expect['warning']]}" if "warning" in expect else "ok"
    return f"{'' if expect['result'] == 'error' else 'a warning: '}{expect['code']} {NAMES[expect['code']]}"


def table() -> str:
    rows = (f"| {case.id} | {case.source} | {answer(case)} |" for case in read_cases())
    return HEAD + "\n".join(rows) + "\n"


def test_each_case_stands_in_the_table_with_its_answer() -> None:
    text = README.read_text()
    before, head, rest = text.partition(HEAD)
    assert head
    after = rest[rest.index("\n\n") + 1 :]
    current = before + table() + after
    if os.environ.get("SHARDC_UPDATE") == "1":
        README.write_text(current)
    assert README.read_text() == current, "SHARDC_UPDATE=1 writes the table"


def test_each_case_runs_or_waits() -> None:
    _, _, waiting = README.read_text().partition("## Cases that wait")
    waits = re.findall(r"\b[A-Z][0-9]+-[a-z0-9-]+", waiting)
    runs = [case.id for case in read_cases()]
    assert set(waits) & set(runs) == set()
    assert len(waits) + len(runs) == len({*waits, *runs}) == ALL
