"""GGUF files, which are out of scope (SHD414)."""

from __future__ import annotations

from pathlib import Path

from shardc.checkpoint.file_findings import broken_file
from shardc.diagnostics import Diagnostic


def only_gguf(path: Path) -> Diagnostic | None:
    """The finding for a .gguf file, or for a directory that has such files and no safetensors.

    Raises OSError if the directory can't be listed.
    """
    names = sorted(entry.name for entry in path.iterdir()) if path.is_dir() else [path.name]
    found = [name for name in names if name.endswith(".gguf")]
    if not found or any(name.endswith(".safetensors") for name in names):
        return None
    return broken_file(
        path,
        "is GGUF, which is out of scope",
        code="SHD414",
        expected="*.safetensors files with a config.json, or a tensor table",
        found=", ".join(found[:3]) + (", …" if len(found) > 3 else ""),
        help="convert it to safetensors, or get the checkpoint that it was made from",
    )
