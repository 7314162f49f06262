"""The header of a safetensors file: 8 bytes of length, JSON, then the tensors' bytes without a hole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from shardc.runtime.arithmetic import is_whole_number
from shardc.runtime.dtypes import TORCH_DTYPES, nbytes
from shardc.runtime.errors import Finding, ShardError

LENGTH_BYTES = 8
MAX_HEADER_BYTES = 100_000_000


class Header(NamedTuple):
    """One tensor of a file; [begin, end) are its bytes, counted from the start of the file."""

    dtype: str
    shape: tuple[int, ...]
    file: str = ""
    begin: int = 0
    end: int = 0


def read_file_headers(path: Path) -> dict[str, Header]:
    """Every tensor of one file by name. Raises SHD406 with every fault of the file."""
    entries, data_start, data_bytes = read_entries(path)
    findings: list[Finding] = []
    headers: dict[str, Header] = {}
    for name, entry in entries.items():
        fault = entry_fault(entry)
        if fault:
            findings.append(("SHD406", f"{path.name}: {name}: {fault}"))
        else:
            begin, end = (data_start + offset for offset in entry["data_offsets"])
            headers[name] = Header(entry["dtype"], tuple(entry["shape"]), str(path), begin, end)
    if not findings:
        findings = [("SHD406", f"{path.name}: {fault}") for fault in tiling_faults(headers, data_start, data_bytes)]
    if findings:
        raise ShardError(*findings)
    return headers


def read_entries(path: Path) -> tuple[dict[str, Any], int, int]:
    """The entries of a file without its metadata, the offset of its first data byte, and the count of data bytes."""
    try:
        with path.open("rb") as file:
            file_bytes = path.stat().st_size
            length = int.from_bytes(file.read(LENGTH_BYTES), "little")
            fault = length_fault(length, file_bytes)
            text = b"" if fault else file.read(length)
    except OSError as error:
        raise ShardError(("SHD406", f"{path.name}: {error.strerror}")) from error
    if fault:
        raise ShardError(("SHD406", f"{path.name}: {fault}"))
    entries = parse_object(path, text)
    entries.pop("__metadata__", None)
    return entries, LENGTH_BYTES + length, file_bytes - LENGTH_BYTES - length


def parse_object(path: Path, text: bytes) -> dict[str, Any]:
    """The JSON object in a file's text. Raises SHD406 where it is none."""
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        raise ShardError(("SHD406", f"{path.name}: not a JSON object"))
    return parsed


def length_fault(length: int, file_bytes: int) -> str | None:
    """What is wrong with the length of a header, in words."""
    if file_bytes < LENGTH_BYTES:
        return f"{file_bytes} bytes, too short: a header's length alone takes {LENGTH_BYTES}"
    if length > MAX_HEADER_BYTES:
        return f"header of {length} bytes, over the limit of {MAX_HEADER_BYTES}"
    if length > file_bytes - LENGTH_BYTES:
        return f"header of {length} bytes, but only {file_bytes - LENGTH_BYTES} follow"
    return None


def entry_fault(entry: Any) -> str | None:
    """What is wrong with one tensor's entry, in words."""
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        return "its entry needs dtype, shape and data_offsets, and nothing else"
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in TORCH_DTYPES:
        return f"dtype {dtype!r} is unknown"
    if not are_sizes(shape):
        return f"shape {shape!r} is not a list of sizes"
    if not are_sizes(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        return f"data_offsets {offsets!r} are not [begin, end]"
    found, expected = offsets[1] - offsets[0], nbytes(dtype, tuple(shape))
    return None if found == expected else f"{found} bytes in the file, but {dtype} {shape} takes {expected}"


def are_sizes(values: Any) -> bool:
    """True for a list of whole numbers from 0 up."""
    return isinstance(values, list) and all(is_whole_number(value) and value >= 0 for value in values)


def tiling_faults(headers: dict[str, Header], data_start: int, data_bytes: int) -> list[str]:
    """Holes and overlaps between the tensors of a file, bytes after the last one, and tensors beyond its end."""
    faults = []
    at = data_start
    for name, header in sorted(headers.items(), key=lambda item: (item[1].begin, item[1].end)):
        if header.begin != at:
            what = "a hole" if header.begin > at else "an overlap"
            faults.append(f"{name} begins at byte {header.begin}, {what}: the bytes before it end at {at}")
        at = max(at, header.end)
    file_bytes = data_start + data_bytes
    if at != file_bytes:
        faults.append(f"{file_bytes} bytes in the file, but its tensors end at byte {at}")
    return faults
