"""Writes a workload as a safetensors checkpoint of pseudorandom bytes."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterable
from pathlib import Path

from bench.loading.workloads import WIDTHS, Stored, Workload

PIECE = 16 << 20  # bytes written at once


def checkpoint_of(workload: Workload, scratch: Path) -> Path:
    """The folder of its checkpoint in `scratch`; written where it is not there yet, under another name until done."""
    folder = scratch / workload.folder
    if not folder.exists():
        partial = folder.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        write_checkpoint(workload, partial)
        partial.rename(folder)
    return folder


def write_checkpoint(workload: Workload, folder: Path) -> None:
    """Files of about the same size, each with whole modules in their order, an index and a config."""
    names: dict[str, str] = {}
    for number, tensors in enumerate(split(workload), 1):
        file = f"model-{number:05d}-of-{workload.files:05d}.safetensors"
        write_file(folder / file, tensors, random.Random(number))
        names |= {tensor.name: file for tensor in tensors}
    index = {"metadata": {"total_size": workload.bytes}, "weight_map": names}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    (folder / "config.json").write_text(json.dumps(workload.config, indent=2))


def split(workload: Workload) -> list[list[Stored]]:
    """The tensors of each file."""
    files: list[list[Stored]] = [[] for _ in range(workload.files)]
    share, done = workload.bytes / workload.files, 0
    for tensor in workload.tensors:
        files[min(int(done / share), workload.files - 1)].append(tensor)
        done += tensor.bytes
    return files


def write_file(path: Path, tensors: Iterable[Stored], source: random.Random) -> None:
    """One file, its tensors in the order that safetensors' own writer gives them: widest dtype first, then by name."""
    header, end = {}, 0
    for tensor in sorted(tensors, key=lambda tensor: (-WIDTHS[tensor.dtype], tensor.name)):
        offsets = [end, end + tensor.bytes]
        header[tensor.name] = {"dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": offsets}
        end += tensor.bytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for begin in range(0, end, PIECE):
            file.write(source.randbytes(min(PIECE, end - begin)))
