"""Which sheets there should be, and where."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shardc.cli.specs import check_file
from shardc.review.sheets.sheet import MARK
from shardc.review.sheets.tree import sheet_trees
from shardc.rules.check import Checked
from tests.cli.support import SPEC, Folder, make_folder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    return make_folder(tmp_path, monkeypatch)


def checked(*paths: str) -> list[Checked]:
    found = [check_file(Path(path))[0] for path in paths]
    return [one for one in found if one is not None]


def test_a_sheet_for_each_checkpoint_of_a_target(folder: Folder) -> None:
    trees = sheet_trees(checked("specs/tiny.yaml"))
    assert list(trees) == [Path("specs/plans")]
    tree = trees[Path("specs/plans")]
    assert list(tree.files) == ["tiny.txt"]
    assert tree.sources == {"tiny.txt": "specs/tiny.yaml"}
    assert (tree.mark, tree.home) == (MARK, "specs/plans/")


def test_two_targets_of_one_checkpoint_are_one_sheet(folder: Folder) -> None:
    folder.edit(
        "  - {checkpoint: tiny, tp: [1, 2, 4, 8]}",
        "  - {checkpoint: tiny, tp: [1, 2]}\n  - {checkpoint: tiny, tp: [4]}",
    )
    sheet = sheet_trees(checked("specs/tiny.yaml"))[Path("specs/plans")].files["tiny.txt"]
    assert "# claimed: tp 1, 2\n# claimed: tp 4\n" in sheet
    assert " tp=4 " in sheet and "(tp=8)" in sheet


def test_a_spec_without_targets_has_none(folder: Folder) -> None:
    folder.spec.write_text(SPEC.split("targets:")[0])
    assert sheet_trees(checked("specs/tiny.yaml"))[Path("specs/plans")].files == {}


def test_specs_of_two_folders(folder: Folder) -> None:
    Path("more/checkpoints").mkdir(parents=True)
    Path("more/checkpoints/tiny.json").write_text(Path("specs/checkpoints/tiny.json").read_text())
    Path("more/other.yaml").write_text(SPEC.replace("name: tiny", "name: other"))
    both = checked("specs/tiny.yaml", "more/other.yaml")
    assert list(sheet_trees(both)) == [Path("specs/plans"), Path("more/plans")]
    assert [list(tree.files) for tree in sheet_trees(both).values()] == [["tiny.txt"], ["tiny.txt"]]


def test_two_specs_of_one_checkpoint_have_a_sheet_each(folder: Folder) -> None:
    """Their names depend on what the folder has, not on which of them is built."""
    Path("specs/other.yaml").write_text(SPEC.replace("name: tiny", "name: other"))
    for paths in (("specs/tiny.yaml",), ("specs/other.yaml", "specs/tiny.yaml")):
        tree = sheet_trees(checked(*paths))[Path("specs/plans")]
        assert tree.sources == {f"tiny.{Path(path).stem}.txt": path for path in paths}


@pytest.mark.parametrize("text", ["tiny: [", "- tiny", "targets: tiny", "targets: [tiny, {checkpoint: [tiny]}]", ""])
def test_a_file_beside_it_that_is_no_spec_claims_nothing(folder: Folder, text: str) -> None:
    Path("specs/other.yaml").write_text(text)
    assert list(sheet_trees(checked("specs/tiny.yaml"))[Path("specs/plans")].files) == ["tiny.txt"]


@pytest.mark.parametrize("name", ["../out", "a/b", "/etc/out", "..", ".hidden", "a\\nb", "con:x"])
def test_no_name_leads_out_of_the_folder(folder: Folder, name: str) -> None:
    """A target's checkpoint is a file name, whoever wrote the spec."""
    folder.edit("{checkpoint: tiny,", f"{{checkpoint: {json.dumps(name)},")
    (one,) = checked("specs/tiny.yaml")
    assert one.resolved is None and {finding.severity for finding in one.findings} == {"error"}
    assert sheet_trees([one])[Path("specs/plans")].files == {}
