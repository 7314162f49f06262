"""The checkpoint that is cut: its headers, a digest that tells it from others, and what merging has to write again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from shardc.runtime.config import Config
from shardc.runtime.headers import LENGTH_BYTES, Header, parse_object, read_header_text
from shardc.runtime.indexes import find_index, read_config, read_headers
from shardc.runtime.refusals import refuse_directory, refuse_packed
from shardc.store.patches import Content
from shardc.store.writer import header_text

#: Places in each file whose bytes are in the digest, and bytes at each.
_SAMPLES, _SAMPLE_BYTES = 16, 4096


class Source(Struct, frozen=True):
    """A checkpoint of whole tensors; `headers` are in its index's order, each with the path of its file."""

    directory: Path
    config: Config
    headers: Mapping[str, Header]
    digest: str


def read_source(directory: Path) -> Source:
    """A checkpoint by its headers. Raises SHD113, SHD406, SHD407, SHD412 and SHD414, as loading does."""
    refuse_directory(directory, 1)
    config = read_config(directory)
    headers = read_headers(directory)
    refuse_packed(headers)
    return Source(directory, config, headers, source_digest(directory, headers))


def source_digest(directory: Path, headers: Mapping[str, Header]) -> str:
    """Of config, names, sizes and headers of files, and of some bytes of each: not of all that they hold.

    Two fine-tunes of one model have the same headers, and differ in their bytes.
    """
    found = hashlib.blake2b(digest_size=16)
    for name in ("config.json", "adapter_config.json"):
        path = directory / name
        found.update(path.read_bytes() if path.is_file() else b"")
    for file in sorted({header.file for header in headers.values()}):
        text, file_bytes = read_header_text(Path(file))
        found.update(f"{Path(file).name} {file_bytes} {len(text)} ".encode() + text)
        start = LENGTH_BYTES + len(text)
        with Path(file).open("rb") as opened:
            for sample in range(_SAMPLES):
                opened.seek(start + (file_bytes - start) * sample // _SAMPLES)
                found.update(opened.read(_SAMPLE_BYTES))
    return found.hexdigest()


def original_files(source: Source, left_out: Collection[str]) -> dict[str, str]:
    """The header of each file, by the file's name, as merging writes it.

    It is the file's own, unless the file has tensors that are left out, or that the index takes from another file.
    """
    by_file: dict[str, dict[str, Header]] = {}
    for name, header in source.headers.items():
        by_file.setdefault(header.file, {})[name] = header
    texts: dict[str, str] = {}
    for file, headers in sorted(by_file.items()):
        text, _ = read_header_text(Path(file))
        entries = parse_object(Path(file), text)
        metadata = entries.pop("__metadata__", {})
        kept = {name: header for name, header in headers.items() if name not in left_out}
        if kept and kept.keys() != entries.keys():
            text = header_text(in_file_order(kept), metadata)
        if kept:
            texts[Path(file).name] = text.decode()
    return texts


def in_file_order(headers: Mapping[str, Header]) -> list[Content]:
    """The tensors of one file, in the order of their bytes."""
    ordered = sorted(headers.items(), key=lambda item: (item[1].begin, item[1].end))
    return [Content(name, header.dtype, header.shape) for name, header in ordered]


def original_index(source: Source, left_out: Collection[str]) -> tuple[str, str] | None:
    """Name and text of the index, without the tensors that are left out; None where there is none."""
    path = find_index(source.directory)
    if path is None:
        return None
    text = path.read_bytes().decode()
    if not left_out:
        return path.name, text
    found: dict[str, Any] = parse_object(path, text.encode())
    found["weight_map"] = {name: file for name, file in found["weight_map"].items() if name not in left_out}
    return path.name, json.dumps(found, indent=2) + "\n"
