"""Files as a repository names them."""

from __future__ import annotations

from pathlib import Path

import pytest

from shardc.diagnostics.repository import Repository


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a folder in it, which is the current one."""
    root = tmp_path.resolve() / "repository"
    (root / "models" / "specs").mkdir(parents=True)
    (root / ".git").mkdir()
    monkeypatch.chdir(root / "models")
    return root


def test_the_root_is_the_nearest_folder_that_git_keeps(root: Path) -> None:
    assert Repository.around(Path()) == Repository(root)
    assert Repository.around(Path("specs")) == Repository(root)
    assert Repository.around(Path(), workspace=str(root.parent)) == Repository(root)


def test_a_worktree_has_a_file_for_git(root: Path) -> None:
    (root / "models" / ".git").write_text("gitdir: elsewhere\n")
    assert Repository.around(Path("specs")) == Repository(root / "models")


def test_without_git_the_workspace_or_the_folder_itself(root: Path) -> None:
    (root / ".git").rmdir()
    assert Repository.around(Path(), workspace=str(root)) == Repository(root)
    assert Repository.around(Path(), workspace=str(root / "models" / "specs")) == Repository(root / "models")
    assert Repository.around(Path()) == Repository(root / "models")


def test_paths(root: Path) -> None:
    repository = Repository(root)
    assert repository.path("specs/x.yaml") == "models/specs/x.yaml"
    assert repository.path("../x.yaml") == "x.yaml"
    assert repository.path(str(root / "a b.yaml")) == "a b.yaml"
    assert repository.path("../../x.yaml") is None
    assert repository.path("/x.yaml") is None
    assert repository.path("") is None


def test_links_are_followed(root: Path) -> None:
    (root / "linked").symlink_to(root / "models" / "specs")
    (root / "outside").symlink_to("/dev")
    assert Repository(root).path(str(root / "linked" / "x.yaml")) == "models/specs/x.yaml"
    assert Repository(root).path(str(root / "outside" / "null")) is None


def test_uris_are_percent_encoded(root: Path) -> None:
    repository = Repository(root)
    assert repository.uri("specs/x.yaml") == "models/specs/x.yaml"
    assert repository.uri("../a b:c%?#é.yaml") == "a%20b%3Ac%25%3F%23%C3%A9.yaml"
    assert repository.uri("../\udcff.yaml") == "%FF.yaml"
    assert repository.uri("/elsewhere/a b.yaml") == "file:///elsewhere/a%20b.yaml"
