import json
import struct
import warnings
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from shardc.runtime import Header, ShardError
from shardc.runtime.headers import read_file_headers
from shardc.runtime.mapped import MappedFile

from .tiny_model import arange


def mappings_of(path: Path) -> int:
    """How often this process has mapped a file."""
    return Path("/proc/self/maps").read_text().count(str(path))


def test_tensors_without_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    full = {"a": arange(2, 3), "b": arange(5, dtype=torch.bfloat16), "c": torch.zeros(0, 4), "d": torch.tensor(7.0)}
    save_file(full, path)
    headers = read_file_headers(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mapped = MappedFile(path)
        for name, tensor in full.items():
            assert torch.equal(mapped.tensor(name, headers[name]), tensor)
            mapped.drop(headers[name])
        assert torch.equal(mapped.tensor("a", headers["a"]), full["a"])


def test_tensors_that_are_not_aligned(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    entries = {
        "a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
        "b": {"dtype": "F32", "shape": [2], "data_offsets": [1, 9]},
    }
    text = json.dumps(entries).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"\x05" + struct.pack("<2f", 1.5, -2.0))
    headers = read_file_headers(path)
    assert MappedFile(path).tensor("b", headers["b"]).tolist() == [1.5, -2.0]


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs Linux's list of mappings")
def test_the_mapping_closes_with_its_last_view(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    save_file({"a": arange(4)}, path)
    mapped = MappedFile(path)
    view = mapped.tensor("a", read_file_headers(path)["a"])
    del mapped
    assert view.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert mappings_of(path) == 1
    del view
    assert mappings_of(path) == 0


def test_a_file_that_has_become_too_short(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(bytes(100))
    with pytest.raises(ShardError) as caught:
        MappedFile(path).tensor("q.weight", Header("F32", (8,), str(path), 80, 112))
    text = "x.safetensors: q.weight takes bytes 80..112, but the file has 100"
    assert caught.value.findings == (("SHD406", text),)


@pytest.mark.parametrize("content", [None, b""])
def test_a_file_that_cannot_be_mapped(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "x.safetensors"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ShardError, match=r"^SHD406: x\.safetensors: "):
        MappedFile(path)
