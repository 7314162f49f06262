"""What the tests of CI files share: this working tree as a repository, a user's repository, and one installation."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.support import CONFIG, SPEC, TENSORS
from tests.support import ROOT

_AUTHOR = {f"GIT_{who}_{what}": "tests@localhost" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
#: What steps and hooks run in: git without a user's settings, and no variables of a CI job that runs these tests.
ENVIRONMENT = {
    **{key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "GITHUB_", "PRE_COMMIT"))},
    **_AUTHOR,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


def git(*arguments: str, cwd: Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    """git, with what it says on both streams in `stdout`."""
    command = ["git", *arguments]
    run = subprocess.run(command, cwd=cwd, text=True, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert run.returncode == 0 or not check, run.stdout
    return run


def commit_all(folder: Path, message: str = "all") -> str:
    """Commit everything there is, without hooks, and give the commit."""
    git("add", "--all", cwd=folder)
    git("commit", "--quiet", "--no-verify", "--message", message, cwd=folder)
    return git("rev-parse", "HEAD", cwd=folder).stdout.strip()


def new_repository(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    git("init", "--quiet", "--initial-branch=main", cwd=folder)
    return folder


def specs_repository(folder: Path) -> Path:
    """A user's repository on its first commit: specs/tiny.yaml, the checkpoint that it claims, and generated/."""
    new_repository(folder)
    (folder / "specs" / "checkpoints").mkdir(parents=True)
    (folder / "specs" / "tiny.yaml").write_text(SPEC)
    table = {"config": CONFIG, "tensor_groups": TENSORS}
    (folder / "specs" / "checkpoints" / "tiny.json").write_text(json.dumps(table, indent=1))
    (folder / ".gitignore").write_text("__pycache__/\n")
    build(folder)
    commit_all(folder)
    return folder


def build(folder: Path) -> None:
    """`shardc build`, with what this working tree holds."""
    command = [sys.executable, "-m", "shardc", "build"]
    subprocess.run(command, cwd=folder, check=True, env=ENVIRONMENT | {"PYTHONPATH": str(ROOT)}, capture_output=True)


def edit(path: Path, old: str, new: str) -> None:
    """One replacement in a file's text."""
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def this_tree(folder: Path) -> str:
    """Copies what git would track of this working tree into a repository of its own; its commit."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    new_repository(folder)
    for name in names:
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return commit_all(folder)


def needs_a_package_index(folder: Path) -> None:
    """Skip where pip cannot fetch a small package into `folder`; in CI, which has to have an index, fail."""
    fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir"]
    limits = ["--timeout", "10", "--retries", "1", "--dest", str(folder), "pluggy"]
    tried = subprocess.run([*fetch, *limits], capture_output=True, text=True)
    if tried.returncode:
        reason = f"no package index: {tried.stderr.strip().splitlines()[-1]}"
        assert not os.environ.get("CI"), reason
        pytest.skip(reason)


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """A folder that `make` has filled, once for all workers of this test run."""
    base = factory.getbasetemp()
    shared = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    folder, done = shared / name, shared / f"{name}.done"
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            done.touch()
    return folder


def run(command: list[str], cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command, in the environment of steps and hooks."""
    return subprocess.run(command, cwd=cwd, text=True, env={**ENVIRONMENT, **environment}, capture_output=True)
