from pathlib import Path

import pytest

from shardc.checkpoint.configs import Config, read_config, read_directory_config
from shardc.diagnostics import Diagnostic

TEXT = """{
  "model_type": "x",
  "vision_config": {
    "hidden_size": 8
  },
  "text_config": {
    "hidden_size": 64,
    "limits": [0.0, Infinity]
  }
}
"""


def read(path: Path, text: str) -> Config:
    path.write_text(text)
    config, findings = read_config(path)
    assert config is not None
    assert findings == []
    return config


@pytest.mark.parametrize(
    ("key", "line"),
    [("model_type", ":2"), ("vision_config.hidden_size", ":4"), ("text_config.hidden_size", ":7"), ("hidden_size", "")],
)
def test_each_key_has_a_line_where_it_is_there(tmp_path: Path, key: str, line: str) -> None:
    path = tmp_path / "config.json"
    config = read(path, TEXT)
    assert config.path == str(path)
    assert config.data["text_config"] == {"hidden_size": 64, "limits": [0.0, float("inf")]}
    assert config.source(key) == f"{path}{line}"


def test_a_text_of_one_line_has_no_lines_worth_naming(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    assert read(path, '{"hidden_size": 64}\n').source("hidden_size") == str(path)


def test_the_config_of_a_tensor_table_is_its_member(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    config = read(path, '{\n "bytes": 1,\n "config": {\n  "hidden_size": 64\n },\n "hidden_size": 7\n}')
    assert config.data == {"hidden_size": 64}
    assert config.source("hidden_size") == f"{path}:4"
    assert config.source("bytes") == str(path)


def test_a_config_that_is_no_object(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text("[]")
    config, findings = read_config(path)
    assert config is None
    assert [(finding.code, finding.message) for finding in findings] == [
        ("SHD406", f"{path}: does not hold a JSON object")
    ]


def test_a_config_that_is_not_there(tmp_path: Path) -> None:
    config, [finding] = read_config(tmp_path / "config.json")
    assert config is None
    assert isinstance(finding, Diagnostic)
    assert finding.message == f"{tmp_path}/config.json: is missing"


def test_the_config_of_an_adapter_stands_under_a_key_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(TEXT)
    (tmp_path / "adapter_config.json").write_text('{\n  "r": 8\n}')
    config, findings = read_directory_config(tmp_path)
    assert config is not None and findings == []
    assert (config.data["adapter"], config.data["model_type"]) == ({"r": 8}, "x")
    assert config.source("adapter.r") == f"{tmp_path}/adapter_config.json:2"
    assert config.source("model_type") == f"{tmp_path}/config.json:2"
    (tmp_path / "config.json").unlink()
    alone, _ = read_directory_config(tmp_path)
    assert alone is not None
    assert (alone.path, alone.data) == (f"{tmp_path}/adapter_config.json", {"adapter": {"r": 8}})
    assert alone.source("model_type") == alone.path


def test_faults_of_both_configs_are_found(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{")
    (tmp_path / "adapter_config.json").write_text("[]")
    config, findings = read_directory_config(tmp_path)
    assert config is None
    assert [finding.message.rpartition("/")[2] for finding in findings] == [
        "adapter_config.json: does not hold a JSON object",
        "config.json: does not hold a JSON object",
    ]
