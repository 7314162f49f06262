"""The table of README.md: what each case is answered with.

`SHARDC_UPDATE=1 pytest tests/cases/test_table.py` writes it.
"""

from __future__ import annotations

import os
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
    before, head, _ = text.partition(HEAD)
    assert head
    current = before + table()
    if os.environ.get("SHARDC_UPDATE") == "1":
        README.write_text(current)
    assert README.read_text() == current, "SHARDC_UPDATE=1 writes the table"


def test_all_of_them_run() -> None:
    names = [case.id for case in read_cases()]
    assert len(names) == len(set(names)) == ALL
