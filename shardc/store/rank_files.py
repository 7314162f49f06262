"""The files that a rank is to have: names, headers and tensors, all known before a byte is written."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from shardc.runtime.errors import ShardError
from shardc.runtime.headers import LENGTH_BYTES, read_header_text
from shardc.runtime.manifests import Cut, mesh_words
from shardc.store.parts import Naming, deal, file_name
from shardc.store.patches import Content
from shardc.store.writer import header_text


class File(NamedTuple):
    """One file that is to be: its name from the directory of the set, its header and its tensors, without patches."""

    name: str
    text: bytes
    contents: list[Content]

    @property
    def bytes(self) -> int:
        """Bytes of the whole file."""
        return LENGTH_BYTES + len(self.text) + sum(content.nbytes for content in self.contents)


def files_of(naming: Naming, folder: str, contents: Iterable[Content], part_bytes: int, cut: Cut) -> list[File]:
    """The files of one folder; each says in its header which cut it is of."""
    parts = deal(contents, part_bytes)
    metadata = {
        "format": "pt",
        "shardc.spec": f"{cut.spec} {cut.digest}",
        "shardc.mesh": mesh_words(cut.mesh),
        "shardc.source": cut.source,
        "shardc.folder": folder,
    }
    return [
        File(file_name(naming, folder, at, len(parts)), header_text(part, metadata), part)
        for at, part in enumerate(parts)
    ]


def is_there(path: Path, file: File) -> bool:
    """True where a file has the header that it is to have, and so was written whole from the same source."""
    try:
        return has_size(path, file.bytes) and read_header_text(path)[0] == file.text
    except ShardError:
        return False


def has_size(path: Path, size: int) -> bool:
    """True for a file of so many bytes."""
    return path.is_file() and path.stat().st_size == size


def index_text(files: Iterable[File]) -> str:
    """The index of one rank's files, as safetensors checkpoints have it; names are from the rank's folder."""
    weight_map = {content.name: Path(file.name).name for file in files for content in file.contents}
    total = sum(content.nbytes for file in files for content in file.contents)
    return json.dumps({"metadata": {"total_size": total}, "weight_map": weight_map}, indent=2) + "\n"
