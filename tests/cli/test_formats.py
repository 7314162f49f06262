"""`--format sarif` and `--format github`, of every command that has them, wherever in a repository it runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import CONFIG, TENSORS, Folder, invoke
from tests.diagnostics.sarif_schema import read_log
from tests.support import ROOT

TABLE = Path("specs/checkpoints/tiny.json")


def results(*arguments: str | Path) -> list[Any]:
    """The results of a valid SARIF log that a command prints."""
    found: list[Any] = read_log(invoke(*arguments, "--format", "sarif").stdout)["runs"][0]["results"]
    return found


def places(found: list[Any]) -> list[tuple[str, str, int]]:
    """Code, URI and line of each result."""
    out = []
    for result in found:
        place = result["locations"][0]["physicalLocation"]
        out.append((result["ruleId"], place["artifactLocation"]["uri"], place["region"]["startLine"]))
    return out


def annotations(*arguments: str | Path) -> list[str]:
    """The properties of the annotations that a command prints, without what follows the line."""
    lines = invoke(*arguments, "--format", "github").stdout.splitlines()
    return [line.partition("::")[2].partition("::")[0].partition(",col=")[0] for line in lines]


def break_table(config: dict[str, Any] | None = None) -> None:
    TABLE.write_text(json.dumps({"config": config or CONFIG, "tensor_groups": TENSORS[:1]}))


def test_a_clean_check_is_a_log_without_results(folder: Folder) -> None:
    result = invoke("check", "--format", "sarif")
    assert result.exit_code == 0
    assert read_log(result.stdout)["runs"][0]["results"] == []


def test_the_rules_are_the_same_for_every_log_and_say_what_they_check(folder: Folder) -> None:
    clean = read_log(invoke("check", "--format", "sarif").stdout)["runs"][0]["tool"]
    folder.edit("tp: [1, 2, 4, 8]", "tp: [1, 2, 3, 4, 8]")
    assert read_log(invoke("check", "--format", "sarif").stdout)["runs"][0]["tool"] == clean
    rules = {rule["id"]: rule for rule in clean["driver"]["rules"]}
    assert rules["SHD501"]["shortDescription"]["text"] == (
        "Each module in the generated package is what its spec gives today."
    )
    assert "## Why it matters" in rules["SHD501"]["help"]["markdown"]


def test_check(folder: Folder) -> None:
    folder.edit("tp: [1, 2, 4, 8]", "tp: [1, 2, 3, 4]")
    assert places(results("check")) == [("SHD201", "specs/tiny.yaml", 6), ("SHD220", "specs/tiny.yaml", 15)]
    assert [one["level"] for one in results("check")] == ["error", "note"]
    assert invoke("check", "--format", "sarif").exit_code == 1


def test_fingerprints_stay_when_lines_move(folder: Folder) -> None:
    folder.edit("tp: [1, 2, 4, 8]", "tp: [1, 2, 3, 4, 8]")
    before = results("check")
    folder.edit("spec: 1\n", "# A comment.\n\nspec: 1\n")
    after = results("check")
    assert places(before) != places(after)
    assert [one["partialFingerprints"] for one in before] == [one["partialFingerprints"] for one in after]


def test_build(folder: Folder) -> None:
    invoke("build")
    (folder.generated / "tiny.py").write_text((folder.generated / "tiny.py").read_text() + "\n")
    (folder.generated / "helpers.py").write_text("mine = True\n")
    expected = [("SHD501", "generated/tiny.py", 1), ("SHD504", "generated/helpers.py", 1)]
    assert places(results("build", "--check")) == expected
    assert annotations("build", "--check") == [
        "error title=shardc (SHD501),file=generated/tiny.py",
        "error title=shardc (SHD504),file=generated/helpers.py",
    ]


def test_verify_one_and_many(folder: Folder) -> None:
    break_table()
    assert places(results("verify", TABLE)) == [("SHD401", "specs/tiny.yaml", 13)]
    Path("specs/checkpoints/other.json").write_text(
        json.dumps({"config": {"architectures": ["Other"]}, "tensor_groups": TENSORS})
    )
    Path("specs/checkpoints/broken.json").write_text("[]")
    assert places(results("verify", "specs/checkpoints")) == [
        ("SHD406", "specs/checkpoints/broken.json", 1),
        ("SHD409", "specs/checkpoints/other.json", 1),
        ("SHD401", "specs/tiny.yaml", 13),
    ]


def test_a_checkpoint_outside_of_the_repository_is_not_annotated(
    folder: Folder, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("elsewhere") / "model"
    outside.mkdir()
    (outside / "config.json").write_text('{"architectures": ["TinyForCausalLM"],,}')
    lines = invoke("verify", outside, "--format", "github").stdout.splitlines()
    assert len(lines) == 2
    assert [line for line in lines if ",file=" in line] == []
    assert lines[-1].startswith(f"::error title=shardc (SHD406)::{outside}/config.json:1:")
    uris = [uri for _, uri, _ in places(results("verify", outside))]
    assert uris == [outside.as_uri(), (outside / "config.json").as_uri()]


def test_a_checkpoint_of_the_repository_is_annotated(folder: Folder) -> None:
    TABLE.write_text('{\n "config": ,\n}')
    assert annotations("verify", TABLE) == ["error title=shardc (SHD406),file=specs/checkpoints/tiny.json,line=2"]


def test_in_a_folder_of_a_repository(
    folder: Folder, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paths begin at the root, which has .git, or else at the job's workspace."""
    folder.edit("tp: [1, 2, 4, 8]", "tp: [1, 2, 3, 4, 8]")
    repository = tmp_path_factory.mktemp("repository")
    models = repository / "models"
    folder.path.rename(models)
    monkeypatch.chdir(models)
    expected = ["error title=shardc (SHD201),file=models/specs/tiny.yaml,line=6"]
    monkeypatch.setenv("GITHUB_WORKSPACE", str(repository))
    assert annotations("check") == expected
    monkeypatch.delenv("GITHUB_WORKSPACE")
    assert annotations("check") == ["error title=shardc (SHD201),file=specs/tiny.yaml,line=6"]
    (repository / ".git").mkdir()
    assert annotations("check") == expected
    assert annotations("check", models / "specs") == expected
    assert places(results("check", "../models/specs")) == [("SHD201", "models/specs/tiny.yaml", 6)]


def test_hostile_words_in_a_spec(folder: Folder) -> None:
    """They end up in the log as words: no link, no placeholder, no command, no character that hides others."""
    name = "[x](https://x.example){0}\\u202e"
    folder.edit("q_proj.weight:", f'"{name}\\n::error::x":')
    found = results("check")
    assert found
    shown = json.dumps([result["message"] for result in found], ensure_ascii=False)
    assert "](https" not in shown and "\u202e" not in shown and "{0}" not in shown.replace("{{0}}", "")
    commands = invoke("check", "--format", "github").stdout.splitlines()
    assert len(commands) == len(found)
    assert all(command.startswith("::error title=shardc (SHD") for command in commands)


def test_prove_has_no_table_for_programs() -> None:
    llama, config = ROOT / "specs" / "llama.yaml", ROOT / "specs" / "small" / "llama.json"
    (result,) = results("prove", llama, "--config", config, "--tp", "3")
    assert result["message"]["text"].startswith("2 kv_heads cannot be dealt to 3 tp ranks")
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": "specs/llama.yaml", "uriBaseId": "%SRCROOT%"}
