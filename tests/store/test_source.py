"""What tells one checkpoint from another, and the headers that merging writes again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from shardc.runtime import ShardError
from shardc.runtime.headers import read_header_text
from shardc.store.source import original_files, original_index, read_source


def test_a_copy_is_the_same_checkpoint(folder: Path) -> None:
    moved = shutil.copytree(folder / "original", folder / "elsewhere")
    assert read_source(moved).digest == read_source(folder / "original").digest


@pytest.mark.parametrize("file", ["a.safetensors", "b.safetensors", "config.json"])
def test_another_byte_is_another_checkpoint(folder: Path, file: str) -> None:
    before = read_source(folder / "original").digest
    path = folder / "original" / file
    data = path.read_bytes()
    changed = data.replace(b'"vocab_size": 10', b'"vocab_size":  10') if file == "config.json" else data[:-1] + b"\x07"
    assert changed != data
    path.write_bytes(changed)
    assert read_source(folder / "original").digest != before


def test_headers_are_kept_as_they_are(folder: Path) -> None:
    source = read_source(folder / "original")
    texts = original_files(source, ())
    assert texts == {
        name: read_header_text(folder / "original" / name)[0].decode() for name in ("a.safetensors", "b.safetensors")
    }
    index = (folder / "original" / "model.safetensors.index.json").read_text()
    assert original_index(source, ()) == ("model.safetensors.index.json", index)


def test_without_some_tensors(folder: Path) -> None:
    source = read_source(folder / "original")
    left_out = [name for name, header in source.headers.items() if header.file.endswith("b.safetensors")]
    assert original_files(source, left_out).keys() == {"a.safetensors"}
    found = original_index(source, left_out)
    assert found is not None
    assert set(json.loads(found[1])["weight_map"].values()) == {"a.safetensors"}


def test_ranks_files_of_an_engine(folder: Path) -> None:
    directory = folder / "saved"
    directory.mkdir()
    (directory / "model-rank-0-part-0.safetensors").touch()
    with pytest.raises(ShardError, match=r"^SHD412: "):
        read_source(directory)
