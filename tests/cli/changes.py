"""A repository of real specs, to be changed as pull requests do."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import jsonschema

from tests.cli.support import invoke
from tests.review.test_git import git
from tests.support import ROOT

SPECS = {"olmo2": ["olmo-2-7b"], "qwen3": ["qwen3-1.7b"]}
SCHEMA = json.loads((ROOT / "schema" / "diff.v1.json").read_text())
#: A line of olmo2.
NORM = "      post_feedforward_layernorm.weight: {shape: [hidden], shard: replicated}\n"


def make_repository(folder: Path) -> None:
    """Two published architectures with a checkpoint each, committed on main; a topic branch is checked out."""
    (folder / "specs" / "checkpoints").mkdir(parents=True)
    for name, checkpoints in SPECS.items():
        shutil.copy(ROOT / "specs" / f"{name}.yaml", folder / "specs")
        for checkpoint in checkpoints:
            shutil.copy(ROOT / "specs" / "checkpoints" / f"{checkpoint}.json", folder / "specs" / "checkpoints")
    text = (folder / "specs" / "qwen3.yaml").read_text()
    targets = text.index("targets:")
    (folder / "specs" / "qwen3.yaml").write_text(
        text[:targets] + "targets:\n  - {checkpoint: qwen3-1.7b, tp: [1, 2, 4, 8]}\n"
    )
    git(folder, "init", "-q", "-b", "main")
    commit(folder)
    git(folder, "checkout", "-qb", "topic")


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "a change")


def edit(spec: Path, old: str, new: str) -> None:
    text = spec.read_text()
    assert old in text
    spec.write_text(text.replace(old, new))


def classes(*arguments: str) -> dict[str, list[str]]:
    """The classes of each spec that changed; the output has the form of its schema."""
    result = invoke("diff", "--against", "main", "--format", "json", *arguments)
    data = json.loads(result.output)
    jsonschema.validate(data, SCHEMA)
    return {spec["name"]: spec["classes"] for spec in data["specs"]}
