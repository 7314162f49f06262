"""Rectangles of tensors in files, as bits; and files that have become too short."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from shardc.runtime import ShardError
from shardc.runtime.headers import Header, read_file_headers
from shardc.store.reader import Reader


@pytest.fixture
def file(tmp_path: Path) -> Path:
    save_file({"a": torch.arange(12.0).reshape(3, 4), "e": torch.zeros(0, 2)}, tmp_path / "x.safetensors")
    return tmp_path / "x.safetensors"


def test_a_rectangle(file: Path) -> None:
    headers, reader = read_file_headers(file), Reader()
    part = reader.part("a", headers["a"], ((1, 3), (2, 3)))
    assert part.dtype == torch.int32
    assert part.clone().view(torch.float32).tolist() == [[6.0], [10.0]]
    reader.drop(headers["a"])
    assert reader.part("a", headers["a"], ((0, 1), (0, 1))).item() == 0
    assert reader.part("e", headers["e"], ((0, 0), (0, 2))).shape == (0, 2)
    reader.drop(headers["e"])


def test_where_its_elements_are_not_aligned(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\1" + torch.tensor([1.5, -2.0]).view(torch.uint8).numpy().tobytes())
    part = Reader().part("a", Header("F32", (2,), str(tmp_path / "x"), 1, 9), ((0, 2),))
    assert part.view(torch.float32).tolist() == [1.5, -2.0]


def test_a_file_that_was_cut_off_since(file: Path) -> None:
    header, reader = read_file_headers(file)["a"], Reader()
    reader.part("a", header, ((0, 3), (0, 4)))
    os.truncate(file, header.end - 1)
    text = f"x.safetensors: a takes bytes {header.begin}..{header.end}, but the file has {header.end - 1}"
    with pytest.raises(ShardError) as caught:
        reader.part("a", header, ((0, 3), (0, 4)))
    assert caught.value.findings == (("SHD406", text),)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ShardError, match=r"^SHD406: x: No such file or directory$"):
        Reader().part("a", Header("F32", (2,), str(tmp_path / "x"), 0, 8), ((0, 2),))
