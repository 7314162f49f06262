"""Ranks' files written in this process, and compared."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch

from scripts.merge import same_bytes
from shardc.store.cutter import Cutter, Order
from shardc.store.merger import Merger
from shardc.store.work import work
from tests.runtime.tiny_model import full_tensors, write_indexed_checkpoint

#: The code of a module that is the small model of tests/runtime.
TINY = "from tests.runtime.tiny_model import SPEC\n"
SIZES = {"tp": 4, "ep": 1}


def make(folder: Path) -> Path:
    """`original`, a checkpoint of the small model of tests/runtime in two files, and `cut`, its ranks' files."""
    full = full_tensors("block4")
    write_indexed_checkpoint(folder / "original", {**full, "visual.x": full["A_log"].clone()})
    (folder / "original" / "tokenizer.json").write_text("{}")
    shard(TINY, folder / "original", folder / "cut", SIZES)
    return folder


def shard(
    module: str, origin: Path, out: Path, sizes: Mapping[str, int], ranks: Iterable[int] | None = None, **options: Any
) -> Path:
    """The files of some ranks, of all if not given; `origin` may be ranks' files of another mesh."""
    cutter = Cutter(Order(module, origin, out, sizes, **options))
    cutter.begin()
    for folder in cutter.folders(range(cutter.planner.ranks) if ranks is None else ranks):
        cutter.write(folder, lambda count: None)
    return out


def merge(directory: Path, out: Path) -> Path:
    """The original's files."""
    merger = Merger(directory, out)
    merger.begin()
    work(lambda: merger, merger.files(), 1, lambda count: None)
    merger.finish()
    return out


def coordinates(sizes: Mapping[str, int]) -> list[dict[str, tuple[int, int]]]:
    """(rank, size) of each mesh dim, for every rank."""
    every = itertools.product(*([(rank, size) for rank in range(size)] for size in sizes.values()))
    return [dict(zip(sizes, at, strict=True)) for at in every]


def same_tensors(one: Mapping[str, torch.Tensor], other: Mapping[str, torch.Tensor]) -> bool:
    """The same names in the same order, and the same bytes."""
    return list(one) == list(other) and all(same_bytes(one[name], other[name]) for name in one)


def files(directory: Path) -> dict[str, bytes]:
    """Every file below a directory, by its path."""
    found = sorted(path for path in directory.rglob("*") if path.is_file())
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in found}
