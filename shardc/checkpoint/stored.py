"""The tensors that one safetensors file holds, proven to tile its data exactly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple, cast

from shardc.checkpoint.file_findings import Fault, broken_file, broken_tensors, shown
from shardc.checkpoint.headers import Header, RawHeader, as_shape, header, is_pair, read_raw_header
from shardc.checkpoint.json_text import JsonError, parse_object
from shardc.diagnostics import Diagnostic
from shardc.spec.dtypes import SIZES, nbytes

READERS = 16
"""Files that are read at a time."""

_METADATA = "__metadata__"
_FIELDS = {"dtype", "shape", "data_offsets"}
_ENTRY = '{"dtype": name, "shape": [sizes], "data_offsets": [begin, end]}'
_DAMAGED = "the file is damaged or not written by safetensors: download or write it again"


class Stored(NamedTuple):
    """A tensor in a file: its header, and its bytes [begin, end) counted from the start of the file."""

    header: Header
    begin: int
    end: int


def read_stored(path: Path) -> tuple[dict[str, Stored] | None, list[Diagnostic]]:
    """The tensors of a safetensors file by name, read from its header alone; faults of the file are SHD406."""
    return _stored_in(path, read_raw_header(path))


def read_each_stored(paths: Sequence[Path]) -> Iterator[tuple[dict[str, Stored] | None, list[Diagnostic]]]:
    """`read_stored` of each file, in their order. Threads read ahead, which is what takes long where files are far."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(READERS) as readers:
        yield from map(_stored_in, paths, readers.map(read_raw_header, paths))


def _stored_in(path: Path, raw: RawHeader | Diagnostic) -> tuple[dict[str, Stored] | None, list[Diagnostic]]:
    if isinstance(raw, Diagnostic):
        return None, [raw]
    parsed = parse_object(raw.json) if raw.json.startswith(b"{") else JsonError("no `{` at its start")
    if isinstance(parsed, JsonError):
        finding = broken_file(
            path, "has a header that is not JSON", expected="a JSON object", found=parsed.reason, help=_DAMAGED
        )
        return None, [finding]
    entries, _ = parsed
    stored, faults = _check_entries(entries, raw.data_at)
    findings = broken_tensors(path, faults, help=_DAMAGED)
    if not findings:
        findings = _check_tiling(path, stored, raw.data_at, raw.file_bytes)
    return (None if findings else stored), findings


def _check_entries(entries: Mapping[str, object], data_at: int) -> tuple[dict[str, Stored], list[Fault]]:
    stored: dict[str, Stored] = {}
    faults: list[Fault] = []
    for name, entry in entries.items():
        if name == _METADATA:
            faults.extend(_check_metadata(entry))
            continue
        tensor = _check_entry(name, entry, data_at)
        if isinstance(tensor, Fault):
            faults.append(tensor)
        else:
            stored[name] = tensor
    return stored, faults


def _check_metadata(entry: object) -> list[Fault]:
    if isinstance(entry, dict) and all(isinstance(value, str) for value in entry.values()):
        return []
    return [Fault(_METADATA, "is malformed", "an object of strings", shown(entry))]


def _check_entry(name: str, entry: object, data_at: int) -> Stored | Fault:
    if not isinstance(entry, dict) or entry.keys() != _FIELDS:
        return Fault(name, "has a malformed entry", _ENTRY, shown(entry))
    dtype, offsets, shape = entry["dtype"], entry["data_offsets"], as_shape(entry["shape"])
    if shape is None or not is_pair(offsets):
        return Fault(name, "has a malformed entry", _ENTRY, shown(entry))
    if not isinstance(dtype, str) or dtype not in SIZES:
        return Fault(name, "has an unknown dtype", ", ".join(SIZES), shown(dtype))
    begin, end = cast("list[int]", offsets)
    stored_as, expected = _sized(dtype, shape)
    if end - begin != expected:
        problem = "has data_offsets that do not fit its dtype and shape"
        return Fault(name, problem, f"{expected} bytes for {dtype} {list(shape)}", f"{end - begin} bytes")
    return Stored(stored_as, data_at + begin, data_at + end)


@cache
def _sized(dtype: str, shape: tuple[int, ...]) -> tuple[Header, int]:
    """A header, and the bytes of its tensor; few tensors of a checkpoint differ."""
    return header(dtype, shape), nbytes(dtype, shape)


def _check_tiling(path: Path, stored: Mapping[str, Stored], data_at: int, file_bytes: int) -> list[Diagnostic]:
    """Findings for holes, overlaps, data beyond the file and data that is no tensor's; offsets are the file's."""
    faults: list[Fault] = []
    position = data_at
    for name, (_, begin, end) in sorted(stored.items(), key=lambda item: item[1][1:]):
        if begin != position:
            problem = "overlaps the tensor before it" if begin < position else "leaves a hole before it"
            faults.append(Fault(name, problem, f"to begin at byte {position}", f"it begins at byte {begin}"))
        if end > file_bytes:
            problem = "lies beyond the end of the file"
            faults.append(Fault(name, problem, f"a file of at least {end} bytes", f"a file of {file_bytes} bytes"))
        position = max(position, end)
    findings = broken_tensors(path, faults, help=_DAMAGED)
    if position < file_bytes:
        trailing = broken_file(
            path,
            "has trailing bytes, after its last tensor",
            expected=f"a file of {position} bytes",
            found=f"a file of {file_bytes} bytes",
            help=_DAMAGED,
        )
        findings.append(trailing)
    return findings
