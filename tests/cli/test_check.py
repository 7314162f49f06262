"""`shardc check`"""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.support import SPEC, Folder, invoke


def spoil(folder: Folder) -> None:
    folder.edit("tp: [1, 2, 4, 8]", "tp: [1, 2, 3, 4, 8]")


def test_a_clean_spec(folder: Folder) -> None:
    result = invoke("check")
    assert (result.exit_code, result.output) == (0, "1 spec clean (4 plans checked)\n")


def test_a_file_or_a_folder(folder: Folder) -> None:
    assert invoke("check", "specs/tiny.yaml").output == "1 spec clean (4 plans checked)\n"
    assert invoke("check", "specs", "specs/tiny.yaml").output == "1 spec clean (4 plans checked)\n"


def test_full(folder: Folder) -> None:
    spoil(folder)
    result = invoke("check")
    assert result.exit_code == 1
    lines = result.output.splitlines()
    assert lines[:2] == [
        "error[SHD201]: 8 heads cannot be dealt to 3 tp ranks: 2.67 each",
        "  --> specs/tiny.yaml:6:15",
    ]
    assert "   = valid tp: 1, 2, 4, 8" in lines
    assert lines[-1] == "1 error in 1 of 1 spec (5 plans checked)"


def test_concise_is_one_line_a_finding(folder: Folder) -> None:
    spoil(folder)
    result = invoke("check", "--format", "concise")
    assert result.output.splitlines()[0] == (
        "specs/tiny.yaml:6:15: error[SHD201] 8 heads cannot be dealt to 3 tp ranks: 2.67 each (valid tp: 1, 2, 4, 8)"
    )


def test_github(folder: Folder) -> None:
    spoil(folder)
    first = invoke("check", "--format", "github").output.splitlines()[0]
    assert first.startswith("::error title=shardc (SHD201),file=specs/tiny.yaml,line=6,col=15,")
    assert "8 heads cannot be dealt to 3 tp ranks" in first


def test_json(folder: Folder) -> None:
    spoil(folder)
    report = json.loads(invoke("check", "--format", "json").stdout)
    assert (report["valid"], report["errors"]) == (False, 1)
    (finding,) = report["diagnostics"]
    assert (finding["code"], finding["name"], finding["severity"]) == ("SHD201", "indivisible-axis", "error")
    assert finding["span"]["line"] == 6
    assert finding["valid"] == {"tp": [1, 2, 4, 8]}
    assert finding["values"]["num_heads"] == 8


def test_a_spec_that_is_not_yaml_beside_one_that_is(folder: Folder) -> None:
    Path("specs/broken.yaml").write_text("spec: [1\n")
    result = invoke("check", "--format", "concise")
    assert result.exit_code == 1
    assert "specs/broken.yaml:" in result.output
    assert result.output.splitlines()[-1] == "1 error in 1 of 2 specs (4 plans checked)"


def test_a_hint_is_no_error(folder: Folder) -> None:
    folder.edit("tp: [1, 2, 4, 8]", "tp: [1, 2, 4]")
    result = invoke("check", "--format", "concise")
    assert result.exit_code == 0
    assert "hint[SHD220] tiny also loads at tp = 8" in result.output
    assert result.output.splitlines()[-1] == "1 spec clean, 1 hint (3 plans checked)"


def test_every_spec_is_read(folder: Folder) -> None:
    Path("specs/deep").mkdir()
    Path("specs/deep/other.yaml").write_text(SPEC.replace("name: tiny", "name: other").split("targets:")[0])
    assert invoke("check").output == "2 specs clean (4 plans checked)\n"
