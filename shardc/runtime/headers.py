"""The header of a safetensors file: 8 bytes of length, JSON, then the tensors' bytes without a hole."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial
from itertools import chain, repeat
from operator import sub
from os import SEEK_END
from sys import intern
from typing import Any, NamedTuple

from shardc.runtime.collector import collector_at_rest
from shardc.runtime.dtypes import TORCH_DTYPES, nbytes
from shardc.runtime.errors import ShardError
from shardc.runtime.locations import Location

LENGTH_BYTES = 8
MAX_HEADER_BYTES = 100_000_000
MAX_DIMS = 64
FIELDS = ("dtype", "shape", "data_offsets")


class Header(NamedTuple):
    """One tensor of a file; [begin, end) are its bytes, counted from the start of the file."""

    dtype: str
    shape: tuple[int, ...]
    file: str = ""
    begin: int = 0
    end: int = 0


def read_file_headers(path: Location) -> dict[str, Header]:
    """Every tensor of one file by name. Raises SHD406 with every fault of the file."""
    text, file_bytes = read_header_text(path)
    return parse_headers(path, text, file_bytes)


def read_header_text(path: Location) -> tuple[bytes, int]:
    """The JSON of a file's header, and the bytes of the whole file. Raises SHD406."""
    try:
        with path.open("rb") as file:
            file_bytes = file.seek(0, SEEK_END)
            file.seek(0)
            length = int.from_bytes(file.read(LENGTH_BYTES), "little")
            fault = length_fault(length, file_bytes)
            text = b"" if fault else file.read(length)
    except OSError as error:
        raise ShardError(("SHD406", f"{path.name}: {error.strerror}")) from error
    if fault:
        raise ShardError(("SHD406", f"{path.name}: {fault}"))
    return text, file_bytes


@collector_at_rest()
def parse_headers(path: Location, text: bytes, file_bytes: int) -> dict[str, Header]:
    """The tensors that the header of a file says it has, equal shapes as one object. Raises SHD406 with all faults."""
    entries = parse_object(path, text)
    entries.pop("__metadata__", None)
    file, data_start = str(path), LENGTH_BYTES + len(text)
    headers = tidy_headers(entries, file, data_start, file_bytes)
    if headers is None:
        raise ShardError(*(("SHD406", f"{path.name}: {fault}") for fault in faults_of(entries, data_start, file_bytes)))
    return headers


def tidy_headers(entries: dict[str, Any], file: str, data_start: int, file_bytes: int) -> dict[str, Header] | None:
    """The tensors of a file; None unless every entry is sound and together they tile the data.

    Judged column by column, as there are 100,000s of entries. Equal dtypes, and equal shapes, are one object.
    """
    values = list(entries.values())
    if not all_are(dict, values) or set(map(len, values)) - {len(FIELDS)}:
        return None
    dtypes, shapes, offsets = ([entry.get(field) for entry in values] for field in FIELDS)
    if not all_are(str, dtypes) or not all_are(list, chain(shapes, offsets)) or set(map(len, offsets)) - {2}:
        return None
    flat = list(chain.from_iterable(offsets))
    if not all_are(int, chain(flat, chain.from_iterable(shapes))):
        return None
    kinds = list(zip(dtypes, map(tuple, shapes), strict=True))
    distinct = set(kinds)
    if not all(
        dtype in TORCH_DTYPES and len(shape) <= MAX_DIMS and are_sizes(list(shape)) for dtype, shape in distinct
    ):
        return None
    begins, ends = [data_start + begin for begin in flat[::2]], [data_start + end for end in flat[1::2]]
    sizes = {kind: nbytes(*kind) for kind in distinct}
    if list(map(sub, ends, begins)) != list(map(sizes.__getitem__, kinds)):
        return None
    # No size is negative. Where each tensor begins at the end of another, or where the data starts, and the last end is
    # the file's, every byte has one more begin before it than ends: it is one tensor's.
    if [data_start, *sorted(ends)] != [*sorted(begins), file_bytes]:
        return None
    known = {(dtype, shape): (intern(dtype), shape) for dtype, shape in distinct}
    columns = zip(*map(known.__getitem__, kinds), strict=True)
    header = partial(tuple.__new__, Header)  # `Header` itself takes three times as long
    return dict(zip(entries, map(header, zip(*columns, repeat(file), begins, ends)), strict=True))


def all_are(kind: type, values: Iterable[Any]) -> bool:
    """Whether values are of exactly this type: True is no int."""
    return set(map(type, values)) <= {kind}


def read_object(path: Location) -> dict[str, Any]:
    """The JSON object in a file. Raises SHD406 where it is none, or can't be read."""
    try:
        return parse_object(path, path.read_bytes())
    except OSError as error:
        raise ShardError(("SHD406", f"{path.name}: {error.strerror}")) from error


def parse_object(path: Location, text: bytes) -> dict[str, Any]:
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


def faults_of(entries: dict[str, Any], data_start: int, file_bytes: int) -> list[str]:
    """What is wrong with entries, in words; where nothing is, with the bytes that they take."""
    faults = [f"{name}: {fault}" for name, entry in entries.items() if (fault := entry_fault(entry))]
    return faults or tiling_faults(entries, data_start, file_bytes)


def entry_fault(entry: Any) -> str | None:
    """What is wrong with one tensor's entry, in words."""
    if not isinstance(entry, dict) or entry.keys() != set(FIELDS):
        return "its entry needs dtype, shape and data_offsets, and nothing else"
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in TORCH_DTYPES:
        return f"dtype {dtype!r} is unknown"
    if not are_sizes(shape):
        return f"shape {shape!r} is not a list of sizes"
    if len(shape) > MAX_DIMS:
        return f"shape of {len(shape)} dims, over the limit of {MAX_DIMS}"
    if not are_sizes(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        return f"data_offsets {offsets!r} are not [begin, end]"
    found, expected = offsets[1] - offsets[0], nbytes(dtype, tuple(shape))
    return None if found == expected else f"{found} bytes in the file, but {dtype} {shape} takes {expected}"


def are_sizes(values: Any) -> bool:
    """True for a list of whole numbers from 0 up."""
    if not isinstance(values, list):
        return False
    for value in values:  # noqa: SIM110 - `all` takes four times as long
        if type(value) is not int or value < 0:
            return False
    return True


def tiling_faults(entries: dict[str, Any], data_start: int, file_bytes: int) -> list[str]:
    """Holes and overlaps between the tensors of a file, bytes after the last one, and tensors beyond its end."""
    faults = []
    at = data_start
    spans = {name: [data_start + offset for offset in entry["data_offsets"]] for name, entry in entries.items()}
    for name, (begin, end) in sorted(spans.items(), key=lambda item: item[1]):
        if begin != at:
            what = "a hole" if begin > at else "an overlap"
            faults.append(f"{name} begins at byte {begin}, {what}: the bytes before it end at {at}")
        at = max(at, end)
    if at != file_bytes:
        faults.append(f"{file_bytes} bytes in the file, but its tensors end at byte {at}")
    return faults
