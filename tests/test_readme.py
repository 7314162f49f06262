"""What the README shows is what happens."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from shardc.cli import shardc

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


def test_the_diff_is_what_diff_prints(tmp_path: Path) -> None:
    """Its head and its tail are left out."""
    for folder, factors in (("before", "heads * head_dim"), ("after", "head_dim * heads")):
        specs = tmp_path / folder
        (specs / "checkpoints").mkdir(parents=True)
        shutil.copy(ROOT / "specs" / "checkpoints" / "olmo-2-7b.json", specs / "checkpoints")
        text = (ROOT / "specs" / "olmo2.yaml").read_text()
        (specs / "olmo2.yaml").write_text(
            text.replace("q_norm.weight: {shape: [heads * head_dim]", f"q_norm.weight: {{shape: [{factors}]")
        )
    run = CliRunner().invoke(shardc, ["diff", "--against", str(tmp_path / "before"), str(tmp_path / "after")])
    command, spec, *said = blocks("text")[1].splitlines()
    assert (command, spec) == ("$ shardc diff --against origin/main", "specs/olmo2.yaml: layout (SHD601)")
    assert "\n".join(said) in run.output


@pytest.mark.parametrize("target", re.findall(r"\]\((?!http)([^)#]+)", README))
def test_links_lead_somewhere(target: str) -> None:
    assert (ROOT / target).exists()
