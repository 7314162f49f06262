"""`shardc schema`"""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.support import Folder, invoke

FILE = Path("schema/spec.v1.json")


def test_it_is_written_once(folder: Folder) -> None:
    first = invoke("schema")
    assert (first.exit_code, first.output) == (0, f"{FILE} written\n")
    assert json.loads(FILE.read_text())["title"] == "shardc spec"
    before = FILE.stat().st_mtime_ns
    assert invoke("schema").output == f"{FILE} unchanged\n"
    assert FILE.stat().st_mtime_ns == before


def test_check_writes_nothing(folder: Folder) -> None:
    result = invoke("schema", "--check")
    assert (result.exit_code, result.output) == (1, f"{FILE} is out of date: run `shardc schema`\n")
    assert not FILE.exists()
    invoke("schema")
    result = invoke("schema", "--check")
    assert (result.exit_code, result.output) == (0, f"{FILE} is current\n")


def test_another_place(folder: Folder) -> None:
    assert invoke("schema", "--out", "here.json").output == "here.json written\n"
    assert json.loads(Path("here.json").read_text())["$id"] == "spec.v1.json"
