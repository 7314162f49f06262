"""The tensors that one safetensors file holds, proven to tile its data exactly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from shardc.checkpoint.file_findings import Fault, broken_file, broken_tensors, shown
from shardc.checkpoint.headers import FIELDS, Header, RawHeader, as_shape, is_pair, read_raw_header
from shardc.checkpoint.json_text import JsonError, parse_object
from shardc.checkpoint.tidy import tidy_headers
from shardc.diagnostics import Diagnostic
from shardc.spec.dtypes import SIZES, nbytes

READERS = 16
"""Files that are read at a time."""

_METADATA = "__metadata__"
_ENTRY = '{"dtype": name, "shape": [sizes], "data_offsets": [begin, end]}'
_DAMAGED = "the file is damaged or not written by safetensors: download or write it again"

#: The bytes [begin, end) of a tensor, counted from the start of the file.
_Span = tuple[int, int]


def read_stored(path: Path) -> tuple[dict[str, Header] | None, list[Diagnostic]]:
    """The tensors of a safetensors file by name, read from its header alone; faults of the file are SHD406."""
    return _stored_in(path, read_raw_header(path))


def read_each_stored(paths: Sequence[Path]) -> Iterator[tuple[dict[str, Header] | None, list[Diagnostic]]]:
    """`read_stored` of each file, in their order. Threads read ahead, which is what takes long where files are far."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(READERS) as readers:
        yield from map(_stored_in, paths, readers.map(read_raw_header, paths))


def _stored_in(path: Path, raw: RawHeader | Diagnostic) -> tuple[dict[str, Header] | None, list[Diagnostic]]:
    if isinstance(raw, Diagnostic):
        return None, [raw]
    parsed = parse_object(raw.json) if raw.json.startswith(b"{") else JsonError("no `{` at its start")
    if isinstance(parsed, JsonError):
        finding = broken_file(
            path, "has a header that is not JSON", expected="a JSON object", found=parsed.reason, help=_DAMAGED
        )
        return None, [finding]
    entries, _ = parsed
    metadata_faults = _check_metadata(entries.pop(_METADATA, {}))
    tensors = tidy_headers(entries, raw.file_bytes - raw.data_at)
    if tensors is not None and not metadata_faults:
        return tensors, []
    spans, faults = _check_entries(entries, raw.data_at)
    findings = broken_tensors(path, metadata_faults + faults, help=_DAMAGED)
    return None, findings or _check_tiling(path, spans, raw.data_at, raw.file_bytes)


def _check_entries(entries: Mapping[str, object], data_at: int) -> tuple[dict[str, _Span], list[Fault]]:
    """Where tensors stand, and what is wrong with the entries of the others."""
    spans: dict[str, _Span] = {}
    faults: list[Fault] = []
    for name, entry in entries.items():
        checked = _check_entry(name, entry, data_at)
        if isinstance(checked, Fault):
            faults.append(checked)
        else:
            spans[name] = checked
    return spans, faults


def _check_metadata(entry: object) -> list[Fault]:
    if isinstance(entry, dict) and all(isinstance(value, str) for value in entry.values()):
        return []
    return [Fault(_METADATA, "is malformed", "an object of strings", shown(entry))]


def _check_entry(name: str, entry: object, data_at: int) -> _Span | Fault:
    if not isinstance(entry, dict) or entry.keys() != set(FIELDS):
        return Fault(name, "has a malformed entry", _ENTRY, shown(entry))
    dtype, offsets, shape = entry["dtype"], entry["data_offsets"], as_shape(entry["shape"])
    if shape is None or not is_pair(offsets):
        return Fault(name, "has a malformed entry", _ENTRY, shown(entry))
    if not isinstance(dtype, str) or dtype not in SIZES:
        return Fault(name, "has an unknown dtype", ", ".join(SIZES), shown(dtype))
    begin, end = cast("list[int]", offsets)
    expected = nbytes(dtype, shape)
    if end - begin != expected:
        problem = "has data_offsets that do not fit its dtype and shape"
        return Fault(name, problem, f"{expected} bytes for {dtype} {list(shape)}", f"{end - begin} bytes")
    return data_at + begin, data_at + end


def _check_tiling(path: Path, spans: Mapping[str, _Span], data_at: int, file_bytes: int) -> list[Diagnostic]:
    """Findings for holes, overlaps, data beyond the file and data that is no tensor's; offsets are the file's."""
    faults: list[Fault] = []
    position = data_at
    for name, (begin, end) in sorted(spans.items(), key=lambda item: item[1]):
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
