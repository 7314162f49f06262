"""Safetensors files written byte by byte, so that they can be wrong."""

import json
import struct
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from shardc.diagnostics import Diagnostic

WriteWeights = Callable[..., Path]


@pytest.fixture
def weights() -> WriteWeights:
    """`weights(path, header, data=b"")`: writes the header's length, the header (JSON, or raw bytes) and the data."""

    def write(path: Path, header: Mapping[str, object] | bytes, data: bytes = b"") -> Path:
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        path.write_bytes(struct.pack("<Q", len(text)) + text + data)
        return path

    return write


@pytest.fixture
def told() -> Callable[[list[Diagnostic]], list[tuple[str, object, object]]]:
    """`told(findings)`: the message, expected and found value of each."""

    def tell(findings: list[Diagnostic]) -> list[tuple[str, object, object]]:
        triples = []
        for finding in findings:
            expected, found = finding.values
            assert (expected.name, found.name) == ("expected", "found")
            triples.append((finding.message, expected.value, found.value))
        return triples

    return tell
