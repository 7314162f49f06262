"""`.ci/browser` installs a browser once, where it can, and never fails the gate."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support import ROOT

UPDATE = "apt-get update -qq"
INSTALL = "apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core"


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """The commands of a machine without a browser; what is called is written down."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("bash", "mktemp", "rm", "tail", "env"):
        found = shutil.which(name)
        assert found is not None
        (tools / name).symlink_to(found)
    has(tools, "id", "echo 0")
    return tools


def has(machine: Path, name: str, script: str) -> None:
    (machine / name).write_text(f"#!{machine / 'bash'}\n{script}\n")
    (machine / name).chmod(0o755)


def has_apt(machine: Path, result: int = 0) -> None:
    has(machine, "apt-get", f'echo "apt-get $*" >> "{machine.parent}/calls"; echo noise; exit {result}')


def run(machine: Path) -> tuple[int, str, list[str]]:
    """The exit code, what it prints, and the calls of apt-get."""
    command = [str(machine / "bash"), str(ROOT / ".ci" / "browser")]
    done = subprocess.run(command, env={"PATH": str(machine)}, capture_output=True, text=True)
    calls = machine.parent / "calls"
    return done.returncode, done.stdout + done.stderr, calls.read_text().splitlines() if calls.exists() else []


def test_it_is_installed_quietly(machine: Path) -> None:
    has_apt(machine)
    assert run(machine) == (0, "", [UPDATE, INSTALL])


def test_a_browser_that_is_there_is_enough(machine: Path) -> None:
    has_apt(machine)
    has(machine, "chromium", "")
    assert run(machine) == (0, "", [])


def test_without_apt(machine: Path) -> None:
    said = ".ci/browser: no chromium, and no apt-get to install it with: install a Chromium for the browser tests\n"
    assert run(machine) == (0, said, [])


def test_not_root_and_no_sudo(machine: Path) -> None:
    has_apt(machine)
    has(machine, "id", "echo 1000")
    said = ".ci/browser: no chromium, and not root: run `apt-get install chromium fonts-dejavu-core` for the browser tests\n"
    assert run(machine) == (0, said, [])
    has(machine, "sudo", "exit 1")
    assert run(machine) == (0, said, [])


def test_not_root_with_sudo(machine: Path) -> None:
    has_apt(machine)
    has(machine, "id", "echo 1000")
    has(machine, "sudo", 'shift; if [ "$1" = true ]; then exit 0; fi; "$@"')
    assert run(machine) == (0, "", [UPDATE, INSTALL])


def test_where_it_fails_it_says_so_and_the_gate_goes_on(machine: Path) -> None:
    has_apt(machine, result=100)
    said = "noise\n.ci/browser: apt-get could not install chromium; browser tests have none\n"
    assert run(machine) == (0, said, [UPDATE])


def test_the_gate_begins_with_it() -> None:
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    assert lines.index(".ci/browser") < lines.index("make test")
    assert "/artifacts/" in (ROOT / ".gitignore").read_text().splitlines()
