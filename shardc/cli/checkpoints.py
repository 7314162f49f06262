"""The checkpoints that a command line names."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from shardc.checkpoint import TABLE_SUFFIXES

_OF_A_CHECKPOINT = ("config.json", "adapter_config.json")
_WEIGHTS = (".safetensors", ".safetensors.index.json", ".gguf", ".bin", ".pt", ".pth")


def checkpoint_paths(paths: Iterable[Path]) -> list[Path]:
    """The paths, each once; a directory of tensor tables becomes its tables, in the order of their names.

    Raises click.UsageError for a spec among them, and OSError if a directory can't be listed.
    """
    out: dict[Path, None] = {}
    for path in paths:
        if path.suffix in (".yaml", ".yml"):
            raise click.UsageError(f"{path}: one spec at most, before all checkpoints")
        out |= dict.fromkeys(_tables(path) or [path])
    return list(out)


def _tables(path: Path) -> list[Path]:
    """The tables of a directory that holds them; none for a checkpoint, or anything else."""
    names = sorted(entry.name for entry in path.iterdir()) if path.is_dir() else []
    if any(name in _OF_A_CHECKPOINT or name.endswith(_WEIGHTS) for name in names):
        return []
    return [path / name for name in names if name.endswith(TABLE_SUFFIXES)]
