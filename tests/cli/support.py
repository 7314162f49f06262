"""Running commands in a folder of their own, with one small spec and the checkpoint it claims."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from shardc.cli import shardc

SPEC = """\
spec: 1
name: tiny
architectures: [TinyForCausalLM]
dtype: BF16
config: {hidden: hidden_size, layers: num_layers, n_heads: num_heads}
axes: {heads: {size: n_heads}}
groups:
  attention:
    at: layers.{layer}
    for: {layer: layers}
    tensors:
      q_proj.weight: {shape: [heads * 4, hidden], shard: channel_rows}
      o_proj.weight: {shape: [hidden, heads * 4], shard: channel_cols}
targets:
  - {checkpoint: tiny, tp: [1, 2, 4, 8]}
"""
CONFIG = {"architectures": ["TinyForCausalLM"], "hidden_size": 16, "num_layers": 2, "num_heads": 8}
TENSORS = [
    {"name": "layers.{0}.q_proj.weight", "dtype": "BF16", "shape": [32, 16], "index": [[[0, 1]]]},
    {"name": "layers.{0}.o_proj.weight", "dtype": "BF16", "shape": [16, 32], "index": [[[0, 1]]]},
]
OUTSIDE = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "PYTHONHASHSEED")}


@dataclass(frozen=True)
class Folder:
    """A folder with specs/tiny.yaml and specs/checkpoints/tiny.json, which is the current one."""

    path: Path

    @property
    def spec(self) -> Path:
        return self.path / "specs" / "tiny.yaml"

    @property
    def generated(self) -> Path:
        return self.path / "generated"

    def edit(self, old: str, new: str) -> None:
        """One replacement in the spec's text."""
        text = self.spec.read_text()
        assert text.count(old) == 1
        self.spec.write_text(text.replace(old, new))

    def files(self) -> dict[str, str]:
        """What is in generated/, by name."""
        return {path.name: path.read_text() for path in sorted(self.generated.iterdir())}


def make_folder(path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    (path / "specs" / "checkpoints").mkdir(parents=True)
    (path / "specs" / "tiny.yaml").write_text(SPEC)
    table = {"config": CONFIG, "tensor_groups": TENSORS}
    (path / "specs" / "checkpoints" / "tiny.json").write_text(json.dumps(table))
    monkeypatch.chdir(path)
    return Folder(path)


def invoke(*arguments: str | Path) -> Result:
    """The command in this process; what it raises is raised."""
    return CliRunner().invoke(shardc, [str(argument) for argument in arguments], catch_exceptions=False)


def script(*arguments: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The console script, in a process of its own."""
    command = [str(Path(sys.executable).parent / "shardc"), *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, env={**OUTSIDE, **environment})
