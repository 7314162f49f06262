"""What `shardc diff` compares with what: commits, folders, and specs that move, come and go."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.changes import NORM, SPECS, classes, commit, edit
from tests.cli.support import Folder, invoke
from tests.review.test_git import git


def test_against_the_last_commit_by_default(repository: Path) -> None:
    edit(repository / "specs" / "olmo2.yaml", NORM, "")
    commit(repository)
    assert invoke("diff").output == "no spec changed, against HEAD\n"
    assert "1 removed, against HEAD~1" in invoke("diff", "--against", "HEAD~1").output


def test_three_dots_leave_out_what_main_did_since(repository: Path) -> None:
    git(repository, "checkout", "-q", "main")
    edit(repository / "specs" / "qwen3.yaml", "tp: [1, 2, 4, 8]", "tp: [1, 2]")
    commit(repository)
    git(repository, "checkout", "-q", "topic")
    edit(repository / "specs" / "olmo2.yaml", "\n      ", "\n        ")
    assert classes() == {"olmo2": ["cosmetic"], "qwen3": ["widens"]}
    data = json.loads(invoke("diff", "--against", "main...", "--format", "json").output)
    assert [spec["name"] for spec in data["specs"]] == ["olmo2"]


def test_one_file_of_several(repository: Path) -> None:
    for name in SPECS:
        edit(repository / "specs" / f"{name}.yaml", "\n      ", "\n        ")
    assert classes("specs/qwen3.yaml") == {"qwen3": ["cosmetic"]}
    assert classes("specs") == {"olmo2": ["cosmetic"], "qwen3": ["cosmetic"]}


def test_from_a_folder_of_the_repository(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edit(repository / "specs" / "olmo2.yaml", "\n      ", "\n        ")
    monkeypatch.chdir(repository / "specs")
    data = json.loads(invoke("diff", "--against", "main", "--format", "json", ".").output)
    assert [(spec["before"]["file"], spec["after"]["file"]) for spec in data["specs"]] == [
        ("main:specs/olmo2.yaml", "olmo2.yaml")
    ]


def test_a_file_that_moved_is_the_same_spec(repository: Path) -> None:
    git(repository, "mv", "specs/olmo2.yaml", "specs/olmo_2.yaml")
    assert classes() == {"olmo2": ["cosmetic"]}


def test_a_folder_against_a_folder(repository: Path) -> None:
    shutil.copytree(repository / "specs", repository / "old")
    edit(repository / "specs" / "olmo2.yaml", NORM, "")
    result = invoke("diff", "--against", "old", "specs", "--format", "json")
    data = json.loads(result.output)
    assert [(one["before"]["file"], one["classes"]) for one in data["specs"]] == [
        ("old/olmo2.yaml", ["narrows", "coverage"])
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--against", "nothing"), "neither a commit here nor a folder; fetch it first"),
        (("--against", "main", "nowhere"), "no *.yaml in nowhere, now or in main"),
        (("--against", "main", "/"), "is outside"),
        (("--against", "main", "--fail-on", "layuot"), "--fail-on layuot: no such class; classes are layout, narrows"),
        (("--against", "specs", "specs/olmo2.yaml"), "specs is a folder: give one folder to compare with it"),
    ],
)
def test_usage(repository: Path, arguments: tuple[str, ...], said: str) -> None:
    result = invoke("diff", *arguments)
    assert result.exit_code == 2
    assert said in result.output.replace("\n", " ")


def test_without_a_repository(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(folder.path.parent))
    result = invoke("diff")
    assert result.exit_code == 2
    assert "--against HEAD: fatal: not a git repository" in result.output


def test_a_spec_that_is_no_yaml_any_more(repository: Path) -> None:
    (repository / "specs" / "olmo2.yaml").write_text("a: [")
    result = invoke("diff", "--against", "main", "--format", "json")
    assert result.exit_code == 1
    assert {spec["name"]: spec["classes"] for spec in json.loads(result.output)["specs"]} == {"olmo2": ["narrows"]}


def test_a_spec_that_is_new_and_one_that_is_gone(repository: Path) -> None:
    (repository / "specs" / "olmo2.yaml").unlink()
    text = (repository / "specs" / "qwen3.yaml").read_text()
    (repository / "specs" / "qwen9.yaml").write_text(text.replace("name: qwen3\n", "name: qwen9\n"))
    assert classes() == {"olmo2": ["narrows"], "qwen9": ["widens"]}
    output = invoke("diff", "--against", "main").output
    assert "main:specs/olmo2.yaml: narrows (SHD603)\n  the spec is gone; all 6 meshes no longer load\n" in output
    assert "specs/qwen9.yaml: widens (SHD602)\n  new spec; " in output
