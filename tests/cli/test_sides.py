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
        (("--against", ""), "--against is empty: name a commit, `REF...` or a folder"),
        (("--against", "..."), "--against ...: neither a commit here nor a folder"),
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


def test_links_are_no_specs(repository: Path, tmp_path: Path) -> None:
    """One that leads out of the repository is left out, one inside is the file itself; none stops the others."""
    elsewhere = tmp_path / "elsewhere.yaml"
    elsewhere.write_text((repository / "specs" / "qwen3.yaml").read_text())
    specs = repository / "specs"
    for name, target in {"out": elsewhere, "in": "olmo2.yaml", "gone": "nowhere", "loop": "loop.yaml"}.items():
        (specs / f"{name}.yaml").symlink_to(target)
    edit(specs / "olmo2.yaml", "\n      ", "\n        ")
    assert classes() == {"olmo2": ["cosmetic"]}
    for name, said in {"out": "specs/out.yaml is outside", "loop": "specs/loop.yaml"}.items():
        result = invoke("diff", "--against", "main", f"specs/{name}.yaml")
        assert (result.exit_code, said in result.output) == (2, True)


def test_a_folder_of_a_spec_s_name(repository: Path) -> None:
    """A spec file that is a folder in the other version: both are named for what they are."""
    specs = repository / "specs"
    text = (specs / "olmo2.yaml").read_text()
    (specs / "olmo2.yaml").unlink()
    (specs / "olmo2.yaml").mkdir()
    (specs / "olmo2.yaml" / "inner.yaml").write_text(text.replace("name: olmo2", "name: inner"))
    assert classes() == {"inner": ["widens"], "olmo2": ["narrows"]}
    assert classes("specs/olmo2.yaml") == {"inner": ["widens"], "olmo2": ["narrows"]}


@pytest.mark.parametrize("marked", [b"\xef\xbb\xbf%s", b"%s"])
def test_a_byte_order_mark_and_other_line_ends_are_spacing(repository: Path, marked: bytes) -> None:
    spec = repository / "specs" / "olmo2.yaml"
    spec.write_bytes(marked % spec.read_bytes().replace(b"\n", b"\r\n"))
    assert classes() == {"olmo2": ["cosmetic"]}


def test_any_name_that_a_file_may_have(repository: Path) -> None:
    """Quotes, line breaks and bytes that are no UTF-8 are names like others, in every format."""
    git(repository, "checkout", "-q", "main")
    text = (repository / "specs" / "olmo2.yaml").read_text()
    names = ['z\xe4"`|<b>.yaml', "two\nlines.yaml", "\udcff.yaml"]
    for i, name in enumerate(names):
        (repository / "specs" / name).write_text(text.replace("name: olmo2", f"name: olmo_{i}"))
    commit(repository)
    for name in names:
        edit(repository / "specs" / name, "\n      ", "\n        ")
    assert classes() == {f"olmo_{i}": ["cosmetic"] for i in range(len(names))}
    for form in ("text", "markdown", "html", "github", "sarif"):
        assert invoke("diff", "--against", "main", "--format", form).exit_code == 0
    markdown = invoke("diff", "--against", "main", "--format", "markdown").output
    assert '| ``specs/z\xe4"`\\|<b>.yaml`` |' in markdown
    assert "| `specs/two\\nlines.yaml` |" in markdown
    assert "| `specs/\\udcff.yaml` |" in markdown


def test_where_git_is_told_what_the_repository_is(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a hook."""
    edit(repository / "specs" / "olmo2.yaml", "\n      ", "\n        ")
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/index")
    assert classes() == {"olmo2": ["cosmetic"]}


def test_hashes_of_another_length(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "sha256"
    shutil.copytree(repository / "specs", other / "specs")
    git(other, "init", "-q", "-b", "main", "--object-format=sha256")
    commit(other)
    monkeypatch.chdir(other)
    edit(other / "specs" / "olmo2.yaml", "\n      ", "\n        ")
    assert classes() == {"olmo2": ["cosmetic"]}


def test_a_worktree_and_a_clone_without_history(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "worktree"), "main")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repository}", "shallow")
    for folder, against in ((tmp_path / "worktree", "main"), (tmp_path / "shallow", "HEAD")):
        monkeypatch.chdir(folder)
        edit(folder / "specs" / "olmo2.yaml", "\n      ", "\n        ")
        data = json.loads(invoke("diff", "--against", against, "--format", "json").output)
        assert [spec["name"] for spec in data["specs"]] == ["olmo2"]
    result = invoke("diff", "--against", "HEAD~1")
    assert (result.exit_code, "fetch it first" in result.output.replace("\n", " ")) == (2, True)


def test_a_repository_that_git_does_not_trust(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    result = invoke("diff", "--against", "main")
    assert result.exit_code == 2
    assert "--against main: fatal: detected dubious ownership in repository" in result.output.replace("\n", " ")


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
