"""The small files of a checkpoint beside its weights: config, tokenizer, templates, licence."""

from __future__ import annotations

from pathlib import Path

from shardc.runtime.manifests import SET_MANIFEST
from shardc.store.writer import replaced

#: Bytes of a file that is copied along, at most.
SMALL = 64 << 20
_WEIGHTS = (".safetensors", ".safetensors.index.json", ".bin", ".pt", ".pth", ".gguf", ".onnx", ".h5", ".msgpack")


def copy_small_files(directory: Path, out: Path) -> list[str]:
    """Copies the files of a directory that are no weights, none of shardc's, and not large; returns the large ones."""
    large = []
    for path in sorted(directory.iterdir()):
        hidden = path.name.startswith(".") or path.name == SET_MANIFEST
        if hidden or path.name.endswith(_WEIGHTS) or not path.is_file():
            continue
        if path.stat().st_size > SMALL:
            large.append(path.name)
            continue
        data = path.read_bytes()
        target = out / path.name
        if not target.is_file() or target.read_bytes() != data:
            with replaced(target) as file:
                file.write(data)
    return large
