"""The header of one safetensors file: 8 bytes of length (little-endian), then that many bytes of JSON."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import NamedTuple

from shardc.checkpoint.file_findings import broken_file, unreadable
from shardc.diagnostics import Diagnostic

MAX_HEADER_BYTES = 100_000_000
"""The longest header that safetensors itself reads."""

LENGTH_BYTES = 8
"""Bytes of the header's length, at the start of the file."""

FIELDS = ("dtype", "shape", "data_offsets")
"""The keys of a tensor's entry."""

_MAX_DIMS = 64
_MAX_INT = 2**63 - 1


class Header(NamedTuple):
    """What a checkpoint says of one tensor: its safetensors dtype and its full shape."""

    dtype: str
    shape: tuple[int, ...]


class RawHeader(NamedTuple):
    """The JSON bytes of a file's header, and the size of the whole file in bytes."""

    json: bytes
    file_bytes: int

    @property
    def data_at(self) -> int:
        """The byte of the file where the tensors' data starts."""
        return LENGTH_BYTES + len(self.json)


@cache
def header(dtype: str, shape: tuple[int, ...]) -> Header:
    """The one Header object of this value: equal headers are identical, so 100,000 of them compare at no cost."""
    return Header(dtype, shape)


def is_pair(value: object) -> bool:
    """Whether a JSON value is two counts in ascending order: offsets, or the ends of a range."""
    return isinstance(value, list) and len(value) == 2 and _are_counts(value) and value[0] <= value[1]


def as_shape(value: object) -> tuple[int, ...] | None:
    """A JSON value as a shape, if it is one: a list of at most 64 sizes."""
    if not isinstance(value, list) or len(value) > _MAX_DIMS or not _are_counts(value):
        return None
    return tuple(value)


def _are_counts(values: list[object]) -> bool:
    """Whether JSON values are whole numbers that sizes or offsets may be."""
    for value in values:  # noqa: SIM110 - `all` takes three times as long, and there are 180,000 tensors
        if type(value) is not int or not 0 <= value <= _MAX_INT:
            return False
    return True


def read_raw_header(path: Path) -> RawHeader | Diagnostic:
    """Reads the header's bytes and nothing after them; a file too short for its header is SHD406."""
    try:
        with path.open("rb") as file:
            file_bytes = os.fstat(file.fileno()).st_size
            start = file.read(LENGTH_BYTES)
            length = int.from_bytes(start, "little")
            if len(start) == LENGTH_BYTES and length <= min(MAX_HEADER_BYTES, file_bytes - LENGTH_BYTES):
                return RawHeader(file.read(length), file_bytes)
    except OSError as error:
        return unreadable(path, error)
    if len(start) < LENGTH_BYTES:
        return broken_file(
            path,
            "is too short for a safetensors file",
            expected=f"at least {LENGTH_BYTES} bytes",
            found=f"{file_bytes} bytes",
            help="the file is cut off: download it again",
        )
    if length > MAX_HEADER_BYTES:
        return broken_file(
            path,
            "has an impossible header length",
            expected=f"at most {MAX_HEADER_BYTES} bytes",
            found=f"{length} bytes",
            help="the file is damaged, or it is not a safetensors file",
        )
    return broken_file(
        path,
        "ends within its header",
        expected=f"at least {LENGTH_BYTES + length} bytes",
        found=f"{file_bytes} bytes",
        help="the file is cut off: download it again",
    )
