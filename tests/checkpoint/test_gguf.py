from pathlib import Path

from shardc.checkpoint import read_checkpoint


def test_a_directory_of_gguf_files(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"model-{number}.gguf").touch()
    (tmp_path / "README.md").touch()
    checkpoint, [finding] = read_checkpoint(tmp_path)
    assert checkpoint is None
    assert (finding.code, finding.message) == ("SHD414", f"{tmp_path}: is GGUF, which is out of scope")
    assert finding.values[1].value == "model-0.gguf, model-1.gguf, model-2.gguf, …"
    assert finding.help == "convert it to safetensors, or get the checkpoint that it was made from"


def test_a_gguf_file(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.touch()
    _, [finding] = read_checkpoint(path)
    assert (finding.code, finding.values[1].value) == ("SHD414", "model.gguf")


def test_gguf_beside_safetensors_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "model.gguf").touch()
    (tmp_path / "model.safetensors").touch()
    _, findings = read_checkpoint(tmp_path)
    assert {finding.code for finding in findings} == {"SHD406"}
