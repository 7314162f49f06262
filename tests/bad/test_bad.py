"""Each folder here is one fault: a spec, its recorded checkpoints, and what `shardc check spec.yaml` says of it there.

`SHARDC_UPDATE=1 pytest tests/bad` writes what is said now; read the difference as the user who would get it.
"""

from __future__ import annotations

import os
from difflib import unified_diff
from pathlib import Path

import pytest
from click.testing import CliRunner

from shardc.checkpoint import read_checkpoint
from shardc.cli.check import command
from shardc.diagnostics import NAMES
from tests.support import NOT_OF_CHECK

HERE = Path(__file__).parent
FOLDERS = sorted(path.name for path in HERE.iterdir() if path.name.startswith("SHD"))
UPDATE = os.environ.get("SHARDC_UPDATE") == "1"


def said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, int]:
    """What the command prints in `folder`, and its exit code."""
    monkeypatch.chdir(folder)
    # The command remembers checkpoints by their relative paths, which here mean another file in each folder.
    monkeypatch.setattr("shardc.cli.specs._read", read_checkpoint)
    result = CliRunner().invoke(command, ["spec.yaml"], catch_exceptions=False)
    return result.output, result.exit_code


@pytest.mark.parametrize("name", FOLDERS)
def test_says(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = HERE / name
    output, exit_code = said(folder, monkeypatch)
    expected = folder / "expected.txt"
    if UPDATE:
        expected.write_text(output)
    written = expected.read_text() if expected.exists() else ""
    difference = "\n".join(unified_diff(written.splitlines(), output.splitlines(), str(expected), "now", lineterm=""))
    assert not difference, f"SHARDC_UPDATE=1 accepts this:\n{difference}"
    code = name.partition("_")[0]
    assert f"[{code}]" in output
    assert exit_code == (1 if f"error[{code}]" in output else 0)


@pytest.mark.parametrize("name", FOLDERS)
def test_has_one_finding(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One cause is one finding."""
    output, _ = said(HERE / name, monkeypatch)
    assert output.count("more: shardc explain") == 1, output


def test_every_code_of_check_has_a_folder() -> None:
    assert {name.partition("_")[0] for name in FOLDERS} == NAMES.keys() - NOT_OF_CHECK
