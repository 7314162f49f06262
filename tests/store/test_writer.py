"""Files that are whole or not there, and headers that safetensors reads."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors import safe_open

from shardc.store.parts import deal, file_name
from shardc.store.patches import Content
from shardc.store.reader import Reader
from shardc.store.writer import header_text, replaced, write_file


def test_a_file_that_safetensors_reads(tmp_path: Path) -> None:
    contents = [
        Content("a", "F32", (2, 1), given=b"\0\0\x80?\0\0\0@"),
        Content("ü", "U8", (3,)),
        Content("scalar", "BF16", (), given=b"\x80?"),
        Content("none", "I64", (0, 4)),
    ]
    text = header_text(contents, {"format": "pt"})
    assert (8 + len(text)) % 64 == 0
    seen: list[int] = []
    write_file(tmp_path / "x.safetensors", text, contents, Reader(), seen.append)
    with safe_open(tmp_path / "x.safetensors", "pt") as file:
        found = {name: file.get_tensor(name) for name in set(file.keys())}
        assert file.metadata() == {"format": "pt"}
    assert found["a"].tolist() == [[1.0], [2.0]]
    assert found["ü"].tolist() == [0, 0, 0]
    assert (found["scalar"].item(), found["scalar"].dtype) == (1.0, torch.bfloat16)
    assert found["none"].shape == (0, 4)
    assert sum(seen) == 8 + 3 + 2


def test_an_error_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("before")
    with pytest.raises(KeyError), replaced(tmp_path / "x") as file:
        file.write(b"after")
        raise KeyError
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"x": "before"}
    with replaced(tmp_path / "x") as file:
        file.write(b"after")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"x": "after"}
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o644


def test_neighbours_go_together() -> None:
    contents = [
        Content(name, dtype, (size,))
        for name, dtype, size in (("a", "U8", 6), ("b", "F32", 1), ("c", "U8", 1), ("d", "F32", 9), ("e", "U8", 4))
    ]
    assert [[one.name for one in part] for part in deal(contents, 10)] == [["b", "a"], ["c"], ["d"], ["e"]]
    assert deal([], 10) == [[]]


@pytest.mark.parametrize(
    ("naming", "folder", "expected"),
    [
        ("shardc", "rank-3", "rank-3/model-00002-of-00012.safetensors"),
        ("vllm", "rank-3", "model-rank-3-part-1.safetensors"),
        ("vllm", "ignored", "ignored/model-00002-of-00012.safetensors"),
    ],
)
def test_names(naming: str, folder: str, expected: str) -> None:
    assert file_name(naming, folder, 1, 12) == expected  # type: ignore[arg-type]
