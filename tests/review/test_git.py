"""Real git, in repositories made for the test."""

from __future__ import annotations

import subprocess
from pathlib import Path, PurePosixPath

import pytest

from shardc.review.git import GitError, commit_of, top_of, write_files

IDENTITY = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
HERE = [PurePosixPath("specs")]


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *IDENTITY, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A commit with two specs, a link, a table, and a file of another kind."""
    folder = tmp_path / "repository"
    (folder / "specs" / "checkpoints").mkdir(parents=True)
    (folder / "specs" / "a.yaml").write_bytes(b"a: 1\r\n\xff")
    (folder / "specs" / "two words\nand é.yaml").write_bytes(b"")
    (folder / "specs" / "checkpoints" / "a.json").write_text("{}")
    (folder / "specs" / "notes.md").write_text("no spec")
    (folder / "specs" / "link.yaml").symlink_to("/etc/passwd")
    (folder / "other.yaml").write_text("elsewhere")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "first")
    return folder


def test_files_come_as_git_has_them(repository: Path, tmp_path: Path) -> None:
    commit = commit_of("main", repository)
    assert commit == git(repository, "rev-parse", "HEAD")
    (repository / "specs" / "a.yaml").write_text("changed, and not in the commit")
    found = write_files(commit, repository, HERE, (".yaml", ".json"), tmp_path / "out")
    assert sorted(map(str, found)) == ["specs/a.yaml", "specs/checkpoints/a.json", "specs/two words\nand é.yaml"]
    assert (tmp_path / "out" / "specs" / "a.yaml").read_bytes() == b"a: 1\r\n\xff"
    assert not (tmp_path / "out" / "specs" / "link.yaml").exists()
    assert not (tmp_path / "out" / "other.yaml").exists()


def test_a_folder_that_the_commit_lacks_has_no_files(repository: Path, tmp_path: Path) -> None:
    assert write_files("main", repository, [PurePosixPath("nowhere")], (".yaml",), tmp_path / "out") == []


def test_the_whole_repository(repository: Path, tmp_path: Path) -> None:
    found = write_files("main", repository, [PurePosixPath(".")], (".yaml",), tmp_path / "out")
    assert PurePosixPath("other.yaml") in found


def test_any_ref(repository: Path) -> None:
    first = git(repository, "rev-parse", "HEAD")
    git(repository, "tag", "v1")
    git(repository, "commit", "-q", "--allow-empty", "-m", "second")
    assert commit_of("v1", repository) == commit_of("HEAD~1", repository) == commit_of(first[:10], repository) == first


def test_three_dots_are_where_head_left_it(repository: Path) -> None:
    fork = git(repository, "rev-parse", "HEAD")
    git(repository, "checkout", "-qb", "topic")
    git(repository, "commit", "-q", "--allow-empty", "-m", "on the topic")
    git(repository, "checkout", "-q", "main")
    git(repository, "commit", "-q", "--allow-empty", "-m", "on main")
    git(repository, "checkout", "-q", "topic")
    assert commit_of("main...", repository) == fork
    assert commit_of("main", repository) != fork


@pytest.mark.parametrize("ref", ["nothing", "--output=stolen", "-h", "", "main:specs", "HEAD^{tree}", "nothing..."])
def test_what_is_no_commit(repository: Path, ref: str) -> None:
    assert commit_of(ref, repository) is None
    assert not (repository / "stolen").exists()


def test_a_folder_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(GitError, match="not a git repository"):
        top_of(tmp_path)


def test_no_git_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitError, match="git is not installed"):
        top_of(tmp_path)
