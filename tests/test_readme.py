"""What the README shows is what happens."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from shardc.cli import shardc
from tests.cli.changes import edit, make_repository
from tests.review.test_git import git

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    """The fenced blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("number", "file"), [(0, "shardc/library/fragments/gqa.yaml"), (1, "specs/llama.yaml")])
def test_the_excerpts_are_the_files(number: int, file: str) -> None:
    lines = (ROOT / file).read_text().splitlines()
    assert [line for line in blocks("yaml")[number].splitlines() if line not in lines] == []


def test_the_error_is_what_check_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "specs" / "checkpoints", tmp_path / "specs" / "checkpoints")
    spec = (ROOT / "specs" / "qwen3_moe.yaml").read_text()
    (tmp_path / "specs" / "qwen3_moe.yaml").write_text(spec.replace(", if_fewer: replicate", ""))
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke(shardc, ["check", "specs/qwen3_moe.yaml"])
    assert run.exit_code == 1
    assert blocks("text")[0] == f"$ shardc check specs/qwen3_moe.yaml\n{run.output}"


def test_the_review_is_what_diff_prints_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_repository(tmp_path)
    git(tmp_path, "update-ref", "refs/remotes/origin/main", "main")
    edit(
        tmp_path / "specs" / "olmo2.yaml",
        "q_norm.weight: {shape: [heads * head_dim]",
        "q_norm.weight: {shape: [head_dim * heads]",
    )
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke(shardc, ["diff", "--against", "origin/main"])
    command, _, shown = blocks("text")[1].partition("\n")
    assert command == "$ shardc diff --against origin/main"
    assert run.output.startswith(shown)


@pytest.mark.parametrize("target", re.findall(r"\]\((?!http)([^)#]+)", README))
def test_links_lead_somewhere(target: str) -> None:
    assert (ROOT / target).exists()
