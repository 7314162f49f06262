import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from shardc.checkpoint.headers import RawHeader, as_shape, header, read_raw_header
from shardc.diagnostics import Diagnostic, Value


def test_equal_headers_are_one_object() -> None:
    assert header("BF16", (2, 3)) is header("BF16", (*[2], 3))
    assert header("BF16", (2, 3)) is not header("F16", (2, 3))


@pytest.mark.parametrize(("value", "shape"), [([], ()), ([0, 3], (0, 3)), ([2**63 - 1], (2**63 - 1,))])
def test_a_shape_is_a_list_of_sizes(value: object, shape: tuple[int, ...]) -> None:
    assert as_shape(value) == shape


@pytest.mark.parametrize("value", [None, 3, "3", {"0": 1}, [-1], [2**63], [1.0], [True], ["1"], [None], [1] * 65])
def test_anything_else_is_no_shape(value: object) -> None:
    assert as_shape(value) is None


def test_only_the_header_is_read(tmp_path: Path, weights: Callable[..., Path]) -> None:
    raw = read_raw_header(weights(tmp_path / "w.safetensors", b"{}  ", b"data!"))
    assert raw == RawHeader(b"{}  ", 17)
    assert raw.data_at == 12


@pytest.mark.parametrize(
    ("data", "problem", "expected", "found"),
    [
        (b"", "is too short for a safetensors file", "at least 8 bytes", "0 bytes"),
        (b"1234567", "is too short for a safetensors file", "at least 8 bytes", "7 bytes"),
        (struct.pack("<Q", 3) + b"{}", "ends within its header", "at least 11 bytes", "10 bytes"),
        (
            struct.pack("<Q", 100_000_001),
            "has an impossible header length",
            "at most 100000000 bytes",
            "100000001 bytes",
        ),
        (b"\xff" * 16, "has an impossible header length", "at most 100000000 bytes", f"{2**64 - 1} bytes"),
    ],
)
def test_a_file_too_short_for_its_header(tmp_path: Path, data: bytes, problem: str, expected: str, found: str) -> None:
    path = tmp_path / "w.safetensors"
    path.write_bytes(data)
    finding = read_raw_header(path)
    assert isinstance(finding, Diagnostic)
    assert (finding.code, finding.message) == ("SHD406", f"{path}: {problem}")
    assert finding.values == (Value("expected", expected), Value("found", found))


def test_a_file_that_cannot_be_opened(tmp_path: Path) -> None:
    finding = read_raw_header(tmp_path / "none.safetensors")
    assert isinstance(finding, Diagnostic)
    assert finding.message == f"{tmp_path}/none.safetensors: cannot be read"
    assert finding.values[1] == Value("found", "No such file or directory")
