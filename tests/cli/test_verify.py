"""`shardc verify`"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from tests.cli.support import CONFIG, TENSORS, Folder, invoke

TABLE = Path("specs/checkpoints/tiny.json")
CLEAN = "clean by specs/tiny.yaml; 4 tensors, 4,096 bytes (4096 B): 4 claimed, 0 ignored with a reason"


@pytest.fixture
def checkpoint(folder: Folder) -> Path:
    """A directory with the tensors that the spec wants."""
    home = folder.path / "checkpoint"
    home.mkdir()
    (home / "config.json").write_text(json.dumps(CONFIG))
    shapes = {
        f"layers.{i}.{part}.weight": dims for i in (0, 1) for part, dims in (("q_proj", (32, 16)), ("o_proj", (16, 32)))
    }
    save_file(
        {name: torch.zeros(dims, dtype=torch.bfloat16) for name, dims in shapes.items()}, home / "model.safetensors"
    )
    return home


def test_a_directory(checkpoint: Path) -> None:
    result = invoke("verify", "checkpoint")
    assert (result.exit_code, result.output) == (0, f"checkpoint: {CLEAN}\n")


def test_a_table(folder: Folder) -> None:
    assert invoke("verify", TABLE).output == f"{TABLE}: {CLEAN}\n"


def test_a_named_spec(folder: Folder) -> None:
    (folder.path / "empty").mkdir()
    assert invoke("verify", "--specs", "empty", "specs/tiny.yaml", TABLE).output == f"{TABLE}: {CLEAN}\n"


def test_no_spec_knows_the_architecture(folder: Folder) -> None:
    TABLE.write_text(json.dumps({"config": {**CONFIG, "architectures": ["OtherModel"]}, "tensor_groups": TENSORS}))
    result = invoke("verify", TABLE, "--format", "concise")
    assert result.exit_code == 1
    message = f"error[SHD409] no spec in specs for the architectures of {TABLE}: OtherModel"
    assert message in result.output
    full = invoke("verify", TABLE).output
    assert f"help: name the spec: `shardc verify SPEC {TABLE}`; there are specs for TinyForCausalLM" in full


@pytest.mark.parametrize("architectures", [None, [], "TinyForCausalLM", [1, None]])
def test_a_config_without_architectures(folder: Folder, architectures: object) -> None:
    TABLE.write_text(json.dumps({"config": {**CONFIG, "architectures": architectures}, "tensor_groups": TENSORS}))
    assert "SHD409" in invoke("verify", TABLE, "--format", "concise").output


def test_what_the_file_lacks_and_what_it_has_besides(folder: Folder) -> None:
    extra = {"name": "lm_head.bias", "dtype": "BF16", "shape": [7]}
    TABLE.write_text(json.dumps({"config": CONFIG, "tensor_groups": [TENSORS[0], extra]}))
    result = invoke("verify", TABLE, "--format", "json")
    assert result.exit_code == 1
    codes = sorted(finding["code"] for finding in json.loads(result.stdout)["diagnostics"])
    assert codes == ["SHD401", "SHD402"]


def test_an_empty_directory(folder: Folder) -> None:
    (folder.path / "empty").mkdir()
    result = invoke("verify", "empty", "--format", "concise")
    assert result.exit_code == 1
    assert "error[SHD406] empty/config.json: is missing" in result.output
