import json
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Barrier

import pytest
import torch
from safetensors.torch import save_file

from shardc.checkpoint import headers, stored
from shardc.checkpoint.headers import Header
from shardc.checkpoint.stored import read_stored
from shardc.diagnostics import Diagnostic
from shardc.spec.dtypes import SIZES

Weights = Callable[..., Path]
Told = Callable[[list[Diagnostic]], list[tuple[str, object, object]]]


def entry(begin: int, end: int, *, dtype: object = "U8", shape: object = None) -> dict[str, object]:
    return {"dtype": dtype, "shape": [end - begin] if shape is None else shape, "data_offsets": [begin, end]}


def test_a_file_of_safetensors_own_making(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    tensors = {
        "w": torch.arange(6, dtype=torch.bfloat16).reshape(2, 3),
        "scalar": torch.tensor(1.5),
        "none": torch.empty(0, 4),
        "f8": torch.ones(3).to(torch.float8_e4m3fn),
    }
    save_file(tensors, path, metadata={"format": "pt"})
    stored, findings = read_stored(path)
    assert findings == []
    assert stored is not None
    assert stored == {
        "w": Header("BF16", (2, 3)),
        "scalar": Header("F32", ()),
        "none": Header("F32", (0, 4)),
        "f8": Header("F8_E4M3", (3,)),
    }


def test_a_header_may_end_in_spaces(tmp_path: Path, weights: Weights) -> None:
    header = b'{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}   '
    path = weights(tmp_path / "w.safetensors", header, b"xy")
    assert read_stored(path) == ({"a": Header("U8", (2,))}, [])


@pytest.mark.parametrize("header", [b"{}", b'{"__metadata__": {"format": "pt"}}'])
def test_a_file_may_hold_no_tensor(tmp_path: Path, weights: Weights, header: bytes) -> None:
    assert read_stored(weights(tmp_path / "w.safetensors", header)) == ({}, [])


def test_zero_size_tensors_may_be_anywhere_between(tmp_path: Path, weights: Weights) -> None:
    header = {"z": entry(2, 2), "b": entry(2, 4), "a": entry(0, 2), "y": entry(4, 4, shape=[3, 0])}
    stored, findings = read_stored(weights(tmp_path / "w.safetensors", header, b"1234"))
    assert findings == []
    assert stored is not None
    assert list(stored) == ["z", "b", "a", "y"]


@pytest.mark.parametrize(
    ("header", "found"),
    [
        (b"", "no `{` at its start"),
        (b' {"a": 1}', "no `{` at its start"),
        (b"[]", "no `{` at its start"),
        (b'{"a": 1', "Expecting ',' delimiter"),
        (b'{"a": {}, "a": {}}', "the key `a` twice in one object"),
        (b'{"a": ' + b"[" * 100_000, "nested too deeply"),
        (b'{"a": ' + b"1" * 5000 + b"}", "a number with too many digits"),
        (b'{"\xff": {}}', "not UTF-8 at byte 2"),
    ],
)
def test_a_header_that_is_not_json(tmp_path: Path, weights: Weights, told: Told, header: bytes, found: str) -> None:
    path = weights(tmp_path / "w.safetensors", header)
    stored, findings = read_stored(path)
    assert stored is None
    assert told(findings) == [(f"{path}: has a header that is not JSON", "a JSON object", found)]


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"dtype": "U8", "shape": [1]},
        {**entry(0, 1), "extra": 1},
        {**entry(0, 1), "data_offsets": [0]},
        {**entry(0, 1), "data_offsets": [0, 1, 2]},
        {**entry(0, 1), "data_offsets": [1, 0]},
        {**entry(0, 1), "data_offsets": [-1, 0]},
        {**entry(0, 1), "data_offsets": [0.0, 1.0]},
        {**entry(0, 1), "data_offsets": [0, 10**4000]},
        {**entry(0, 1), "data_offsets": {"0": 1}},
        entry(0, 1, shape=[-1, -1]),
        entry(0, 1, shape=[10**4000]),
        entry(0, 1, shape=[float("nan")]),
        entry(0, 1, shape=[float("inf")]),
        entry(0, 1, shape=[True]),
        entry(0, 1, shape=[1] * 65),
        entry(0, 1, shape="1"),
    ],
)
def test_a_malformed_entry(tmp_path: Path, weights: Weights, told: Told, value: object) -> None:
    path = weights(tmp_path / "w.safetensors", {"a": value}, b"1")
    stored, findings = read_stored(path)
    assert stored is None
    [(message, expected, _)] = told(findings)
    assert message == f"{path}: `a` has a malformed entry"
    assert expected == '{"dtype": name, "shape": [sizes], "data_offsets": [begin, end]}'


@pytest.mark.parametrize("value", [1, [], {"format": 1}, {"format": float("nan")}])
def test_malformed_metadata(tmp_path: Path, weights: Weights, told: Told, value: object) -> None:
    path = weights(tmp_path / "w.safetensors", {"__metadata__": value})
    _, findings = read_stored(path)
    [(message, expected, _)] = told(findings)
    assert (message, expected) == (f"{path}: `__metadata__` is malformed", "an object of strings")


ONE_FAULT: Mapping[str, tuple[dict[str, object], str, str, str]] = {
    "unknown dtype": ({"a": entry(0, 4, dtype="F4")}, "`a` has an unknown dtype", ", ".join(SIZES), "'F4'"),
    "dtype a list": ({"a": entry(0, 4, dtype=["U8"])}, "`a` has an unknown dtype", ", ".join(SIZES), "['U8']"),
    "bytes and shape": (
        {"a": entry(0, 4, dtype="BF16", shape=[3, 1])},
        "`a` has data_offsets that do not fit its dtype and shape",
        "6 bytes for BF16 [3, 1]",
        "4 bytes",
    ),
    "hole": (
        {"a": entry(0, 1), "b": entry(2, 4)},
        "`b` leaves a hole before it",
        "to begin at byte 129",
        "it begins at byte 130",
    ),
    "overlap": (
        {"a": entry(0, 3), "b": entry(2, 4)},
        "`b` overlaps the tensor before it",
        "to begin at byte 131",
        "it begins at byte 130",
    ),
    "beyond the end": (
        {"a": entry(0, 4), "b": entry(4, 6)},
        "`b` lies beyond the end of the file",
        "a file of at least 134 bytes",
        "a file of 132 bytes",
    ),
    "trailing bytes": (
        {"a": entry(0, 1)},
        "has trailing bytes, after its last tensor",
        "a file of 129 bytes",
        "a file of 132 bytes",
    ),
    "only trailing bytes": (
        {},
        "has trailing bytes, after its last tensor",
        "a file of 128 bytes",
        "a file of 132 bytes",
    ),
}


@pytest.mark.parametrize("case", ONE_FAULT)
def test_data_that_does_not_fit_the_header(tmp_path: Path, weights: Weights, told: Told, case: str) -> None:
    header, problem, expected, found = ONE_FAULT[case]
    path = weights(tmp_path / "w.safetensors", json.dumps(header).encode().ljust(120), b"1234")
    stored, findings = read_stored(path)
    assert stored is None
    assert told(findings) == [(f"{path}: {problem}", expected, found)]
    assert [finding.code for finding in findings] == ["SHD406"]


def test_all_faults_of_a_file_are_told_together_one_finding_a_kind(tmp_path: Path, weights: Weights) -> None:
    header = {
        "a": entry(0, 1, dtype="F4"),
        "b": 3,
        "c": entry(0, 1, dtype="F6"),
        "d": entry(0, 9, dtype="F64", shape=[]),
    }
    path = weights(tmp_path / "w.safetensors", header)
    _, findings = read_stored(path)
    assert [(finding.message, finding.same_cause) for finding in findings] == [
        (f"{path}: `a` has an unknown dtype", ("c",)),
        (f"{path}: `b` has a malformed entry", ()),
        (f"{path}: `d` has data_offsets that do not fit its dtype and shape", ()),
    ]


def test_a_file_cut_off_names_every_tensor_it_lost(tmp_path: Path, weights: Weights) -> None:
    header = {name: entry(2 * at, 2 * at + 2) for at, name in enumerate("abcd")}
    path = weights(tmp_path / "w.safetensors", header, b"123")
    _, [finding] = read_stored(path)
    assert finding.message == f"{path}: `b` lies beyond the end of the file"
    assert finding.same_cause == ("c", "d")
    assert finding.help == "the file is damaged or not written by safetensors: download or write it again"


def test_files_are_read_ahead_and_told_in_their_order(
    tmp_path: Path, weights: Weights, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second file is read while the first one is; a reader that came alone would wait in vain."""
    together = Barrier(2)
    header = b'{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}   '
    good = weights(tmp_path / "good.safetensors", header, b"xy")

    def read(path: Path) -> headers.RawHeader | Diagnostic:
        together.wait(timeout=10)
        return headers.read_raw_header(path)

    monkeypatch.setattr(stored, "read_raw_header", read)
    (missing, [finding]), (found, none) = stored.read_each_stored([tmp_path / "gone.safetensors", good])
    assert (missing, finding.code, finding.about) == (None, "SHD406", str(tmp_path / "gone.safetensors"))
    assert (found, none) == ({"a": Header("U8", (2,))}, [])
