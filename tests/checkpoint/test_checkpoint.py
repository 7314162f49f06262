import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from shardc.checkpoint import Header, read_checkpoint
from shardc.diagnostics import Diagnostic

Told = Callable[[list[Diagnostic]], list[tuple[str, object, object]]]

TABLE = '{\n"config": {\n  "hidden_size": 4},\n"tensor_groups": [{"name": "w", "dtype": "F32", "shape": [4]}]}'
EXPECTED = "a directory of config.json and *.safetensors, or a tensor table (.json, .json.gz)"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    path = tmp_path / "tiny"
    path.mkdir()
    (path / "config.json").write_text('{\n  "hidden_size": 4\n}')
    save_file({"w": torch.arange(4.0)}, path / "model-00001.safetensors")
    save_file({"v": torch.zeros(2, 4, dtype=torch.bfloat16)}, path / "model-00002.safetensors")
    return path


def test_a_directory_of_real_files(directory: Path) -> None:
    checkpoint, findings = read_checkpoint(directory)
    assert findings == []
    assert checkpoint is not None
    assert (checkpoint.name, checkpoint.path) == ("tiny", str(directory))
    assert checkpoint.config.data == {"hidden_size": 4}
    assert checkpoint.config.source("hidden_size") == f"{directory}/config.json:2"
    assert checkpoint.headers == {"w": Header("F32", (4,)), "v": Header("BF16", (2, 4))}


def test_paths_are_told_as_they_were_given(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (directory / "config.json").unlink()
    monkeypatch.chdir(directory.parent)
    _, [finding] = read_checkpoint(Path("tiny"))
    assert finding.message == "tiny/config.json: is missing"


def test_the_current_directory_has_a_name(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(directory)
    checkpoint, _ = read_checkpoint(Path())
    assert checkpoint is not None
    assert (checkpoint.name, checkpoint.path) == ("tiny", ".")


def test_faults_of_config_and_weights_are_told_together(directory: Path) -> None:
    (directory / "config.json").write_text("[]")
    (directory / "model-00002.safetensors").write_bytes(b"short")
    checkpoint, findings = read_checkpoint(directory)
    assert checkpoint is None
    assert [finding.message for finding in findings] == [
        f"{directory}/config.json: does not hold a JSON object",
        f"{directory}/model-00002.safetensors: is too short for a safetensors file",
    ]


@pytest.mark.parametrize(
    ("files", "found", "help"),
    [
        ([], "none", "download the *.safetensors files of the checkpoint"),
        (["pytorch_model.bin"], "pytorch_model.bin", "convert the weights to safetensors"),
    ],
)
def test_a_directory_without_weights(tmp_path: Path, told: Told, files: list[str], found: str, help: str) -> None:
    for file in ["config.json", *files]:
        (tmp_path / file).write_text("{}")
    checkpoint, findings = read_checkpoint(tmp_path)
    assert checkpoint is None
    assert told(findings) == [(f"{tmp_path}: has no tensors", "one or more *.safetensors files", found)]
    assert findings[0].help == help


@pytest.mark.parametrize("name", ["glm-5.3.json", "glm-5.3.json.gz"])
def test_a_table(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(TABLE.encode()) if name.endswith(".gz") else TABLE.encode())
    checkpoint, findings = read_checkpoint(path)
    assert findings == []
    assert checkpoint is not None
    assert (checkpoint.name, checkpoint.path) == ("glm-5.3", str(path))
    assert checkpoint.config.source("hidden_size") == f"{path}:3"
    assert checkpoint.headers == {"w": Header("F32", (4,))}


def test_a_config_is_not_a_checkpoint(directory: Path) -> None:
    checkpoint, findings = read_checkpoint(directory / "config.json")
    assert checkpoint is None
    assert {finding.message for finding in findings} == {f"{directory}/config.json: is not a tensor table"}


def test_anything_else_is_told_what_a_checkpoint_is(directory: Path, told: Told) -> None:
    weights, text = directory / "model-00001.safetensors", directory / "notes.txt"
    text.write_text("x")
    findings = [finding for path in (directory / "none", weights, text) for finding in read_checkpoint(path)[1]]
    assert told(findings) == [
        (f"{directory}/none: does not exist", EXPECTED, "nothing"),
        (f"{weights}: is not a checkpoint", EXPECTED, "one file of weights"),
        (f"{text}: is not a checkpoint", EXPECTED, "another kind of file"),
    ]
    assert [finding.help for finding in findings] == ["", f"give its directory, {directory}", ""]


def test_a_path_that_the_system_refuses() -> None:
    checkpoint, [finding] = read_checkpoint(Path("x" * 5000))
    assert checkpoint is None
    assert finding.values[1].value == "File name too long"


RECORDED = sorted((Path(__file__).parents[2] / "specs" / "checkpoints").glob("*.json"))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_every_recorded_checkpoint_reads_and_has_the_totals_it_states(path: Path) -> None:
    checkpoint, findings = read_checkpoint(path)
    assert findings == []
    assert checkpoint is not None
    stated = json.loads(path.read_text())
    assert len(checkpoint.headers) == stated["n_tensors"]
    assert stated["architecture"] in checkpoint.config.data["architectures"]  # type: ignore[operator]
