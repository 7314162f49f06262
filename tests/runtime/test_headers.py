import json
import struct
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from shardc.runtime import Header, ShardError
from shardc.runtime.headers import read_file_headers

Entries = dict[str, Any]


def entry(dtype: str, shape: list[int], begin: int, end: int) -> Entries:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def write(path: Path, entries: object, data_bytes: int) -> Path:
    return write_text(path, json.dumps(entries).encode(), data_bytes)


def write_text(path: Path, text: bytes, data_bytes: int) -> Path:
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(data_bytes))
    return path


def findings(path: Path) -> tuple[str, ...]:
    with pytest.raises(ShardError) as caught:
        read_file_headers(path)
    assert {code for code, _ in caught.value.findings} == {"SHD406"}
    return tuple(text for _, text in caught.value.findings)


def test_a_real_file(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    full = {"a": torch.zeros(3, 5, dtype=torch.bfloat16), "b": torch.zeros(0, 4), "c": torch.tensor(1.0)}
    save_file(full, path, metadata={"format": "pt"})
    headers = read_file_headers(path)
    assert {name: header[:2] for name, header in headers.items()} == {
        "a": ("BF16", (3, 5)),
        "b": ("F32", (0, 4)),
        "c": ("F32", ()),
    }
    assert headers["a"].file == str(path)
    assert headers["a"].end - headers["a"].begin == 30
    assert max(header.end for header in headers.values()) == path.stat().st_size


def test_offsets_count_from_the_start_of_the_file(tmp_path: Path) -> None:
    text = json.dumps({"a": entry("F32", [2], 0, 8)}).encode() + b"   "
    path = write_text(tmp_path / "x.safetensors", text, 8)
    start = 8 + len(text)
    assert read_file_headers(path) == {"a": Header("F32", (2,), str(path), start, start + 8)}


def test_a_file_without_tensors(tmp_path: Path) -> None:
    assert read_file_headers(write(tmp_path / "x.safetensors", {"__metadata__": {"format": "pt"}}, 0)) == {}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "x.safetensors: 0 bytes, too short: a header's length alone takes 8"),
        (b"1234567", "x.safetensors: 7 bytes, too short: a header's length alone takes 8"),
        (struct.pack("<Q", 100_000_001), "x.safetensors: header of 100000001 bytes, over the limit of 100000000"),
        (struct.pack("<Q", 9) + b"{}", "x.safetensors: header of 9 bytes, but only 2 follow"),
        (struct.pack("<Q", 2) + b"[]", "x.safetensors: not a JSON object"),
        (struct.pack("<Q", 2) + b"{,", "x.safetensors: not a JSON object"),
        (struct.pack("<Q", 2) + b"\xff\xfe", "x.safetensors: not a JSON object"),
        (struct.pack("<Q", 200_000) + b"[" * 200_000, "x.safetensors: not a JSON object"),
        (struct.pack("<Q", 9_000) + b'{"a": ' + b"9" * 8_993 + b"}", "x.safetensors: not a JSON object"),
    ],
)
def test_broken_headers(tmp_path: Path, content: bytes, text: str) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(content)
    assert findings(path) == (text,)


@pytest.mark.parametrize(
    ("broken", "fault"),
    [
        ([], "its entry needs dtype, shape and data_offsets, and nothing else"),
        ({"dtype": "F32", "shape": [2]}, "its entry needs dtype, shape and data_offsets, and nothing else"),
        (entry("F4", [2], 0, 8), "dtype 'F4' is unknown"),
        (entry(["F32"], [2], 0, 8), "dtype ['F32'] is unknown"),  # type: ignore[arg-type]
        (entry("F32", [-2], 0, 8), "shape [-2] is not a list of sizes"),
        (entry("F32", [True], 0, 8), "shape [True] is not a list of sizes"),
        (entry("F32", 2, 0, 8), "shape 2 is not a list of sizes"),  # type: ignore[arg-type]
        (entry("U8", [1] * 65, 0, 1), "shape of 65 dims, over the limit of 64"),
        (entry("F32", [2], 8, 0), "data_offsets [8, 0] are not [begin, end]"),
        (entry("F32", [2], 0.0, 8), "data_offsets [0.0, 8] are not [begin, end]"),  # type: ignore[arg-type]
        (entry("F32", [3], 0, 8), "8 bytes in the file, but F32 [3] takes 12"),
        (entry("BF16", [2, 3], 0, 8), "8 bytes in the file, but BF16 [2, 3] takes 12"),
    ],
)
def test_broken_entries(tmp_path: Path, broken: object, fault: str) -> None:
    assert findings(write(tmp_path / "x.safetensors", {"a": broken}, 8)) == (f"x.safetensors: a: {fault}",)


@pytest.mark.parametrize(
    ("spans", "data_bytes", "faults"),
    [
        ([(0, 4), (8, 12)], 12, ["t1 begins at byte {8}, a hole: the bytes before it end at {4}"]),
        ([(0, 8), (4, 12)], 12, ["t1 begins at byte {4}, an overlap: the bytes before it end at {8}"]),
        ([(4, 8)], 8, ["t0 begins at byte {4}, a hole: the bytes before it end at {0}"]),
        ([(0, 8)], 4, ["{4} bytes in the file, but its tensors end at byte {8}"]),
        ([(0, 8)], 9, ["{9} bytes in the file, but its tensors end at byte {8}"]),
    ],
)
def test_bytes_that_do_not_tile(
    tmp_path: Path, spans: list[tuple[int, int]], data_bytes: int, faults: list[str]
) -> None:
    entries = {f"t{number}": entry("U8", [end - begin], begin, end) for number, (begin, end) in enumerate(spans)}
    start = 8 + len(json.dumps(entries))
    absolute = [fault.format(*(start + offset for offset in range(13))) for fault in faults]
    assert findings(write(tmp_path / "x.safetensors", entries, data_bytes)) == tuple(
        f"x.safetensors: {fault}" for fault in absolute
    )


def test_all_faults_of_a_file(tmp_path: Path) -> None:
    entries = {"a": entry("F4", [2], 0, 8), "b": entry("F32", [1], 8, 12), "c": entry("F32", [1], 12, 20)}
    assert findings(write(tmp_path / "x.safetensors", entries, 20)) == (
        "x.safetensors: a: dtype 'F4' is unknown",
        "x.safetensors: c: 8 bytes in the file, but F32 [1] takes 4",
    )


def test_a_path_that_cannot_be_read(tmp_path: Path) -> None:
    assert findings(tmp_path) == (f"{tmp_path.name}: Is a directory",)
