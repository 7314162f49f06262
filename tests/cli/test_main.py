"""Exit codes, and what every command has in common."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

import shardc.cli
from shardc.diagnostics import ShardcBug
from tests.cli.support import Folder, invoke, script

COMMANDS = [
    "build", "check", "diff", "explain", "merge", "plan", "prove", "report", "reshard", "schema", "shard", "verify",
]  # fmt: skip


def test_the_commands_are_listed_with_what_they_do() -> None:
    result = invoke("--help")
    assert result.exit_code == 0
    lines = result.output.split("Commands:\n")[1].splitlines()
    assert [line.split()[0] for line in lines] == COMMANDS
    assert "Exit codes: 0 clean, 1 findings, 2 usage or I/O, 3 a bug in shardc." in result.output


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str) -> None:
    result = invoke(command, "-h")
    assert result.exit_code == 0
    assert result.output.startswith(f"Usage: shardc {command} ")


def test_the_version() -> None:
    assert invoke("--version").output.startswith("shardc, version ")


def test_a_command_that_does_not_exist() -> None:
    result = invoke("sharpen")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "No such command 'sharpen'." in result.stderr


def test_the_console_script(folder: Folder) -> None:
    run = script("check", cwd=folder.path)
    assert (run.returncode, run.stdout, run.stderr) == (0, "1 spec clean (4 plans checked)\n", "")


def test_findings_go_to_stdout(folder: Folder) -> None:
    folder.edit("shard: channel_cols", "shard: channel_rows")
    run = script("check", cwd=folder.path)
    assert (run.returncode, run.stderr) == (1, "")
    assert run.stdout.startswith("error[SHD210]: o_proj.weight says channel_rows, its shape says channel_cols\n")
    assert run.stdout.endswith("\n1 error in 1 of 1 spec (4 plans checked)\n")


def test_no_color_into_a_pipe_and_none_if_told(folder: Folder) -> None:
    folder.edit("shard: channel_cols", "shard: channel_rows")
    assert "\x1b" not in script("check", cwd=folder.path, NO_COLOR="1", FORCE_COLOR="1").stdout
    assert "\x1b" not in script("check", cwd=folder.path, TERM="dumb").stdout


@pytest.mark.parametrize(
    ("terminal", "no_color", "wanted"), [(True, None, True), (True, "", False), (False, None, False)]
)
def test_color_is_for_terminals(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, no_color: str | None, wanted: bool
) -> None:
    output = importlib.import_module("shardc.cli.output")
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    if no_color is not None:
        monkeypatch.setenv("NO_COLOR", no_color)
    assert output._wants_color() is wanted


@pytest.mark.parametrize(
    ("raised", "code", "words"),
    [
        (ShardcBug("SHD901 law 1"), 3, "shardc: a bug in shardc, not in your input: SHD901 law 1\n"),
        (KeyError("x"), 3, "shardc: a bug in shardc, not in your input; please report it\n"),
        (PermissionError(13, "Permission denied", "generated"), 2, "shardc: generated: Permission denied\n"),
    ],
)
def test_whose_fault_an_exception_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], raised: Exception, code: int, words: str
) -> None:
    def fail(standalone_mode: bool) -> None:
        raise raised

    monkeypatch.setattr(shardc.cli, "shardc", fail)
    with pytest.raises(SystemExit) as exit_:
        shardc.cli.main()
    captured = capsys.readouterr()
    assert (exit_.value.code, captured.out) == (code, "")
    assert captured.err.endswith(words)
    assert captured.err.startswith("Traceback") == (words.endswith("report it\n"))


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "nowhere.yaml"],
        ["check", "empty"],
        ["build", "nowhere.yaml"],
        ["build", "--format", "xml"],
        ["plan", "nowhere.yaml", "--config", "c.json"],
        ["plan", "specs/tiny.yaml", "--config", "nowhere.json"],
        ["verify"],
        ["verify", "nowhere"],
        ["verify", "specs/tiny.yaml", "specs/tiny.yaml", "specs/tiny.yaml"],
        ["verify", "--specs", "nowhere", "specs/tiny.yaml"],
    ],
)
def test_usage_is_exit_code_2(folder: Folder, arguments: list[str]) -> None:
    (folder.path / "empty").mkdir()
    result = invoke(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Error: " in result.stderr


def test_a_folder_that_cannot_be_written_is_exit_code_2(folder: Folder) -> None:
    (folder.path / "file").write_text("")
    run = script("build", "--out", "file/generated", cwd=folder.path)
    assert (run.returncode, run.stdout, run.stderr) == (2, "", "shardc: file/generated: Not a directory\n")


@pytest.mark.parametrize(
    "arguments", [["check"], ["build"], ["build", "--check"], ["verify", "specs/tiny.yaml", "table"]]
)
def test_json_is_one_object(folder: Folder, arguments: list[str]) -> None:
    table = Path("specs/checkpoints/tiny.json")
    given = [str(table) if word == "table" else word for word in arguments]
    result = invoke(*given, "--format", "json")
    report = json.loads(result.stdout)
    assert list(report)[:5] == ["format_version", "valid", "errors", "warnings", "hints"]
    assert report["format_version"] == 1
    assert report["valid"] is (result.exit_code == 0)
