import json
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from shardc.runtime import ShardError, indexes, read_config, read_headers


def save(directory: Path, files: dict[str, list[str]]) -> None:
    for file, names in files.items():
        save_file({name: torch.zeros(2) for name in names}, directory / file)


def index(directory: Path, weight_map: Any, name: str = "model.safetensors.index.json") -> None:
    (directory / name).write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))


def findings(directory: Path) -> tuple[tuple[str, str], ...]:
    with pytest.raises(ShardError) as caught:
        read_headers(directory)
    return caught.value.findings


def held_by(directory: Path) -> dict[str, str]:
    return {name: Path(header.file).name for name, header in read_headers(directory).items()}


def test_without_an_index_all_files_count(tmp_path: Path) -> None:
    save(tmp_path, {"b.safetensors": ["y"], "a.safetensors": ["x"]})
    assert held_by(tmp_path) == {"x": "a.safetensors", "y": "b.safetensors"}


def test_an_index_decides(tmp_path: Path) -> None:
    save(tmp_path, {"a.safetensors": ["x", "y"], "b.safetensors": ["y"], "c.safetensors": ["z"]})
    index(tmp_path, {"x": "a.safetensors", "y": "b.safetensors"})
    text = "SHD413: a.safetensors holds y too, which model.safetensors.index.json takes from b.safetensors"
    with pytest.warns(UserWarning, match=f"^{text}$"):
        assert held_by(tmp_path) == {"x": "a.safetensors", "y": "b.safetensors"}


def test_an_index_of_another_name(tmp_path: Path) -> None:
    save(tmp_path, {"a.safetensors": ["x"], "b.safetensors": ["y"]})
    index(tmp_path, {"x": "a.safetensors"}, "pytorch.safetensors.index.json")
    assert held_by(tmp_path) == {"x": "a.safetensors"}


def test_several_indexes(tmp_path: Path) -> None:
    index(tmp_path, {}, "a.safetensors.index.json")
    index(tmp_path, {}, "b.safetensors.index.json")
    text = (
        "several indexes, none of them model.safetensors.index.json: a.safetensors.index.json, b.safetensors.index.json"
    )
    assert findings(tmp_path) == (("SHD407", text),)


def test_files_that_do_not_exist(tmp_path: Path) -> None:
    index(tmp_path, {"x": "a.safetensors", "y": "a.safetensors", "z": "b.safetensors"})
    head = "model.safetensors.index.json puts"
    assert findings(tmp_path) == (
        ("SHD407", f"{head} x and 1 more in a.safetensors, which does not exist"),
        ("SHD407", f"{head} z in b.safetensors, which does not exist"),
    )


def test_tensors_that_are_not_in_their_file(tmp_path: Path) -> None:
    save(tmp_path, {"a.safetensors": ["x"], "b.safetensors": ["y"]})
    index(tmp_path, {"x": "b.safetensors", "y": "a.safetensors"})
    head = "model.safetensors.index.json puts"
    assert findings(tmp_path) == (
        ("SHD407", f"{head} x in b.safetensors, which lacks it"),
        ("SHD407", f"{head} y in a.safetensors, which lacks it"),
    )


@pytest.mark.parametrize("file", ["../a.safetensors", "/etc/a.safetensors", "sub/a.safetensors", "sub\\a.safetensors"])
def test_files_elsewhere(tmp_path: Path, file: str) -> None:
    index(tmp_path, {"x": file})
    assert findings(tmp_path) == (("SHD407", f"model.safetensors.index.json names {file!r}, no plain file name"),)


@pytest.mark.parametrize("weight_map", [None, [], {"x": 1}])
def test_an_index_without_a_map(tmp_path: Path, weight_map: Any) -> None:
    index(tmp_path, weight_map)
    assert findings(tmp_path) == (("SHD407", "model.safetensors.index.json has no weight_map from tensors to files"),)


def test_a_tensor_in_two_files(tmp_path: Path) -> None:
    save(tmp_path, {"a.safetensors": ["x", "y"], "b.safetensors": ["y", "x"]})
    assert findings(tmp_path) == (
        ("SHD407", "x is in a.safetensors and in b.safetensors"),
        ("SHD407", "y is in a.safetensors and in b.safetensors"),
    )


def test_all_broken_files_are_found(tmp_path: Path) -> None:
    for file in ("a.safetensors", "b.safetensors"):
        (tmp_path / file).write_bytes(b"123")
    assert [text.split(":")[0] for _, text in findings(tmp_path)] == ["a.safetensors", "b.safetensors"]


def test_nothing_there(tmp_path: Path) -> None:
    assert findings(tmp_path) == (("SHD113", f"{tmp_path} has no *.safetensors file"),)
    with pytest.raises(ShardError) as caught:
        read_config(tmp_path)
    assert caught.value.findings == (("SHD113", f"{tmp_path} has no config.json"),)


def test_config(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"hidden_size": 8}')
    assert read_config(tmp_path) == {"hidden_size": 8}
    (tmp_path / "config.json").write_text("[8]")
    with pytest.raises(ShardError, match=r"^SHD406: config\.json: not a JSON object$"):
        read_config(tmp_path)


def test_config_of_an_adapter(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text('{"r": 4}')
    assert read_config(tmp_path) == {"adapter": {"r": 4}}
    (tmp_path / "config.json").write_text('{"hidden_size": 8}')
    assert read_config(tmp_path) == {"hidden_size": 8, "adapter": {"r": 4}}


def test_files_are_read_ahead_and_their_faults_told_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second file is read while the first one is; a reader that came alone would wait in vain."""
    together = Barrier(2)

    def read(path: Path) -> tuple[bytes, int]:
        together.wait(timeout=10)
        if path.name == "a.safetensors":
            raise ShardError(("SHD406", "a.safetensors: broken"))
        return b"[]", 10

    monkeypatch.setattr(indexes, "read_header_text", read)
    with pytest.raises(ShardError) as caught:
        indexes.read_files([tmp_path / "a.safetensors", tmp_path / "b.safetensors"])
    assert caught.value.findings == (
        ("SHD406", "a.safetensors: broken"),
        ("SHD406", "b.safetensors: not a JSON object"),
    )


def test_equal_shapes_of_a_file_are_one_object(tmp_path: Path) -> None:
    save(tmp_path, {"a.safetensors": ["x", "y"]})
    headers = read_headers(tmp_path)
    assert headers["x"].shape is headers["y"].shape
    assert headers["x"].dtype is headers["y"].dtype
