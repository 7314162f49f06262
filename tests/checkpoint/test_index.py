import json
from collections.abc import Callable
from pathlib import Path

import pytest

from shardc.checkpoint.headers import Header
from shardc.checkpoint.index import read_weights
from shardc.diagnostics import Diagnostic

Weights = Callable[..., Path]
Told = Callable[[list[Diagnostic]], list[tuple[str, object, object]]]

BYTE = {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}
SIGNED = BYTE | {"dtype": "I8"}
NEXT_BYTE = {"dtype": "U8", "shape": [1], "data_offsets": [1, 2]}


def write_index(directory: Path, weight_map: object, name: str = "model.safetensors.index.json") -> Path:
    path = directory / name
    path.write_text(json.dumps({"metadata": {"total_size": 2}, "weight_map": weight_map}))
    return path


def test_without_an_index_every_file_is_read_in_order(tmp_path: Path, weights: Weights) -> None:
    weights(tmp_path / "b.safetensors", {"y": BYTE}, b"1")
    weights(tmp_path / "a.safetensors", {"x": BYTE}, b"1")
    (tmp_path / "tokenizer.json").write_text("{}")
    found, findings = read_weights(tmp_path)
    assert findings == []
    assert found is not None
    assert list(found.items()) == [("x", Header("U8", (1,))), ("y", Header("U8", (1,)))]
    assert found["x"] is found["y"]


def test_without_an_index_a_tensor_may_be_in_one_file_only(tmp_path: Path, weights: Weights, told: Told) -> None:
    weights(tmp_path / "a.safetensors", {"x": BYTE, "y": NEXT_BYTE}, b"12")
    weights(tmp_path / "b.safetensors", {"x": BYTE, "y": NEXT_BYTE}, b"12")
    found, findings = read_weights(tmp_path)
    assert found is None
    assert told(findings) == [
        (
            f"{tmp_path}/b.safetensors: holds `x`, which a.safetensors holds too",
            "each tensor in one file, or an index that decides",
            "in a.safetensors and b.safetensors",
        )
    ]
    assert (findings[0].code, findings[0].same_cause) == ("SHD407", ("y",))


def test_the_index_decides_which_file_holds_a_tensor(tmp_path: Path, weights: Weights) -> None:
    weights(tmp_path / "a.safetensors", {"x": SIGNED}, b"1")
    weights(tmp_path / "b.safetensors", {"x": BYTE, "y": NEXT_BYTE}, b"12")
    weights(tmp_path / "consolidated.safetensors", b"not read")
    write_index(tmp_path, {"y": "b.safetensors", "x": "b.safetensors"})
    found, findings = read_weights(tmp_path)
    assert findings == []
    assert found is not None
    assert found == {"y": Header("U8", (1,)), "x": Header("U8", (1,))}


def test_a_copy_that_the_index_leaves_aside_is_a_warning(tmp_path: Path, weights: Weights) -> None:
    weights(tmp_path / "a.safetensors", {"x": SIGNED, "y": NEXT_BYTE}, b"12")
    weights(tmp_path / "b.safetensors", {"x": BYTE, "y": NEXT_BYTE}, b"12")
    write_index(tmp_path, {"x": "b.safetensors", "y": "b.safetensors", "z": "a.safetensors"})
    found, findings = read_weights(tmp_path)
    assert found is None
    assert [(finding.code, finding.severity) for finding in findings] == [("SHD407", "error"), ("SHD413", "warning")]
    write_index(tmp_path, {"x": "a.safetensors", "y": "b.safetensors"})
    found, findings = read_weights(tmp_path)
    assert found is not None
    assert found == {"x": Header("I8", (1,)), "y": Header("U8", (1,))}
    assert [(finding.message, finding.same_cause) for finding in findings] == [
        (f"{tmp_path}/a.safetensors: holds `y` too, which model.safetensors.index.json takes from b.safetensors", ()),
        (f"{tmp_path}/b.safetensors: holds `x` too, which model.safetensors.index.json takes from a.safetensors", ()),
    ]


def test_one_finding_for_each_missing_file(tmp_path: Path, weights: Weights, told: Told) -> None:
    weights(tmp_path / "1.safetensors", {"x": BYTE}, b"1")
    weight_map = {"x": "1.safetensors", "c": "3.safetensors", "a": "2.safetensors", "b": "2.safetensors"}
    index = write_index(tmp_path, weight_map)
    found, findings = read_weights(tmp_path)
    assert found is None
    assert told(findings) == [
        (
            f"{index}: names `2.safetensors`, which is missing",
            "`2.safetensors`, with 2 tensors, such as `a`",
            "no such file",
        ),
        (f"{index}: names `3.safetensors`, which is missing", "`3.safetensors`, with 1 tensor, `c`", "no such file"),
    ]
    assert findings[0].code == "SHD407"
    assert findings[0].help == f"an incomplete download? Get the file, into {tmp_path}"


def test_a_tensor_that_its_file_lacks(tmp_path: Path, weights: Weights, told: Told) -> None:
    weights(tmp_path / "1.safetensors", {"x": BYTE}, b"1")
    index = write_index(tmp_path, dict.fromkeys("axb", "1.safetensors"))
    found, findings = read_weights(tmp_path)
    assert found is None
    assert told(findings) == [
        (f"{index}: says that 1.safetensors holds `a`", "`a` in 1.safetensors", "a file without it (tensors: 1)")
    ]
    assert (findings[0].code, findings[0].same_cause) == ("SHD407", ("b",))


def test_a_broken_file_is_told_once_and_not_as_tensors_that_lack(tmp_path: Path) -> None:
    (tmp_path / "1.safetensors").write_bytes(b"")
    write_index(tmp_path, dict.fromkeys("ab", "1.safetensors"))
    _, findings = read_weights(tmp_path)
    assert [finding.message for finding in findings] == [
        f"{tmp_path}/1.safetensors: is too short for a safetensors file"
    ]


@pytest.mark.parametrize(
    "file", ["../x.safetensors", "/etc/x.safetensors", "sub/x.safetensors", "..\\x", "..", ".", "", "x\0"]
)
def test_files_outside_the_directory_are_refused(tmp_path: Path, told: Told, file: str) -> None:
    index = write_index(tmp_path, {"a": file})
    found, findings = read_weights(tmp_path)
    assert found is None
    assert told(findings) == [
        (
            f"{index}: names a file outside its directory for 1 tensor, `a`",
            "the name of a file beside the index",
            repr(file),
        )
    ]


@pytest.mark.parametrize(
    ("weight_map", "found"), [(None, "None"), ([], "[]"), ({"a": 1}, "{'a': 1}"), ({"a": None}, "{'a': None}")]
)
def test_a_malformed_weight_map(tmp_path: Path, told: Told, weight_map: object, found: str) -> None:
    index = write_index(tmp_path, weight_map)
    _, findings = read_weights(tmp_path)
    assert told(findings) == [
        (
            f"{index}: does not say which file holds each tensor",
            "`weight_map`, an object of tensor names to file names",
            found,
        )
    ]


def test_an_index_without_a_weight_map_and_one_that_is_not_json(tmp_path: Path) -> None:
    index = tmp_path / "model.safetensors.index.json"
    index.write_text("{}")
    _, [finding] = read_weights(tmp_path)
    assert finding.values[1].value == "no `weight_map`"
    index.write_text("{")
    _, [finding] = read_weights(tmp_path)
    assert (finding.code, finding.message) == ("SHD406", f"{index}: does not hold a JSON object")


def test_of_several_indexes_the_usual_name_decides(tmp_path: Path, weights: Weights, told: Told) -> None:
    weights(tmp_path / "1.safetensors", {"x": BYTE}, b"1")
    for name in ("a.safetensors.index.json", "b.safetensors.index.json"):
        write_index(tmp_path, {"y": "2.safetensors"}, name)
    found, findings = read_weights(tmp_path)
    assert found is None
    assert told(findings) == [
        (
            f"{tmp_path}: has several indexes",
            "one index, or one named model.safetensors.index.json",
            "a.safetensors.index.json, b.safetensors.index.json",
        )
    ]
    write_index(tmp_path, {"x": "1.safetensors"})
    found, findings = read_weights(tmp_path)
    assert findings == []
    assert found is not None
    assert list(found) == ["x"]
