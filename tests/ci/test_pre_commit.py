"""The hooks of .pre-commit-hooks.yaml, run by pre-commit at real commits of a user's repository."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.ci.support import (
    build,
    commit_all,
    edit,
    git,
    needs_a_package_index,
    new_repository,
    once,
    run,
    specs_repository,
    this_tree,
)
from tests.cli.support import SPEC
from tests.support import ROOT

HOOKS = ROOT / ".pre-commit-hooks.yaml"
PRE_COMMIT = [sys.executable, "-m", "pre_commit"]


@dataclass(frozen=True)
class User:
    """A user's repository whose commits run the hooks."""

    path: Path
    home: Path

    def commit(self, *paths: str) -> tuple[int, str]:
        """Stage the paths and commit: the exit code, and what the hooks say."""
        git("add", *paths, cwd=self.path)
        committed = run(["git", "commit", "--message", "change"], self.path, PRE_COMMIT_HOME=str(self.home))
        return committed.returncode, committed.stdout + committed.stderr


def configuration(repository: Path, commit: str) -> str:
    hooks = [{"id": "shardc-check"}, {"id": "shardc-build"}]
    return json.dumps({"repos": [{"repo": repository.as_uri(), "rev": commit, "hooks": hooks}]})


@pytest.fixture
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with this tree committed, pre-commit's home with the hooks' environment, and a configuration."""
    needs_a_package_index(tmp_path_factory.mktemp("index"))

    def install(folder: Path) -> None:
        commit = this_tree(folder / "shardc")
        user = new_repository(folder / "user")
        (user / ".pre-commit-config.yaml").write_text(configuration(folder / "shardc", commit))
        commit_all(user)
        made = run([*PRE_COMMIT, "install-hooks"], user, PRE_COMMIT_HOME=str(folder / "home"))
        assert made.returncode == 0, made.stdout + made.stderr

    return once(tmp_path_factory, "pre-commit", install)


@pytest.fixture
def user(installed: Path, tmp_path: Path) -> User:
    path = specs_repository(tmp_path / "user")
    (path / ".pre-commit-config.yaml").write_text((installed / "user" / ".pre-commit-config.yaml").read_text())
    (path / "README.md").write_text("Models.\n")
    commit_all(path)
    home = installed / "home"
    made = run([*PRE_COMMIT, "install"], path, PRE_COMMIT_HOME=str(home))
    assert made.returncode == 0, made.stdout
    return User(path, home)


def test_the_manifest_is_one() -> None:
    checked = run([*PRE_COMMIT, "validate-manifest", str(HOOKS)], ROOT)
    assert checked.returncode == 0, checked.stdout


def test_a_clean_commit_passes(user: User) -> None:
    edit(user.path / "specs" / "tiny.yaml", "tp: [1, 2, 4, 8]", "tp: [1, 2, 4]")
    build(user.path)
    code, said = user.commit("specs")
    assert code == 0, said
    assert [line.split(".")[0] for line in said.splitlines() if line.endswith("Passed")] == [
        "shardc check",
        "shardc build --check",
    ]


def test_a_spec_with_an_error_fails_with_what_is_wrong(user: User) -> None:
    edit(user.path / "specs" / "tiny.yaml", "tp: [1, 2, 4, 8]", "tp: [1, 2, 3]")
    code, said = user.commit("specs")
    assert code == 1
    assert "error[SHD201]: 8 heads cannot be dealt to 3 tp ranks: 2.67 each\n  --> specs/tiny.yaml:6:15" in said


def test_a_checkpoint_that_no_longer_fits_fails_though_no_spec_was_touched(user: User) -> None:
    edit(user.path / "specs" / "checkpoints" / "tiny.json", '"num_heads": 8', '"num_heads": 6')
    code, said = user.commit("specs")
    assert code == 1
    assert "error[SHD201]: 6 heads cannot be dealt to 4 tp ranks" in said


def test_generated_modules_that_are_stale_fail_and_are_not_touched(user: User) -> None:
    edit(user.path / "specs" / "tiny.yaml", "[heads * 4, hidden]", "[heads * 4, 16]")
    before = (user.path / "generated" / "tiny.py").read_text()
    code, said = user.commit("specs")
    assert code == 1
    assert "error[SHD501]: generated/tiny.py: out of date" in said
    assert "run `shardc build`" in said
    assert (user.path / "generated" / "tiny.py").read_text() == before
    build(user.path)
    assert user.commit("specs", "generated")[0] == 0


def test_a_new_spec_without_its_module_fails(user: User) -> None:
    (user.path / "specs" / "other.yaml").write_text(SPEC.replace("name: tiny", "name: other"))
    code, said = user.commit("specs")
    assert code == 1
    assert "error[SHD502]: generated/other.py: missing (specs/other.yaml was never built)" in said


def test_a_module_that_is_on_disk_passes_though_it_is_not_added(user: User) -> None:
    """What docs/ci.md warns of: CI is what notices."""
    (user.path / "specs" / "other.yaml").write_text(SPEC.replace("name: tiny", "name: other"))
    build(user.path)
    assert user.commit("specs")[0] == 0
    assert git("status", "--short", cwd=user.path).stdout == "?? generated/other.py\n"


def test_an_edit_of_a_generated_module_fails(user: User) -> None:
    (user.path / "generated" / "tiny.py").write_text("mine = True\n")
    code, said = user.commit("generated")
    assert code == 1
    assert "SHD504" in said and "shardc check" in said


def test_other_commits_run_neither(user: User) -> None:
    (user.path / "README.md").write_text("More models.\n")
    code, said = user.commit("README.md")
    assert code == 0
    assert said.count("(no files to check)Skipped") == 2
