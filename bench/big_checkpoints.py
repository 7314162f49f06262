"""Checkpoints of 180,000 tensors and more for the benchmarks: real headers, and files that take no disk."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from shardc.checkpoint import read_checkpoint
from shardc.spec.dtypes import nbytes

R1_NVFP4 = Path(__file__).parent.parent / "specs/checkpoints/deepseek-r1-nvfp4.json"
#: Experts of Kimi-K2.5, in a model that is like DeepSeek-R1 otherwise.
KIMI_EXPERTS = 384
#: Files that a checkpoint is written in.
FILES = 160


def kimi_sized(folder: Path) -> Path:
    """DeepSeek-R1 in NVFP4 with as many experts as Kimi-K2.5, as a table: 269,836 tensors."""
    table: dict[str, Any] = json.loads(R1_NVFP4.read_text())
    experts = table["config"]["n_routed_experts"]
    table["config"]["n_routed_experts"] = KIMI_EXPERTS
    for group in table["tensor_groups"]:
        group["index"] = [
            [[0, KIMI_EXPERTS - 1] if run == [0, experts - 1] else run for run in runs]
            for runs in group.get("index", [])
        ]
        group["shape"] = [KIMI_EXPERTS if size == experts else size for size in group["shape"]]
    del table["n_tensors"], table["bytes"]
    path = folder / "kimi-sized-nvfp4.json"
    path.write_text(json.dumps(table))
    return path


def write_sparse(table: Path, directory: Path) -> None:
    """A checkpoint directory of a table: `FILES` files, layer by layer, each a header and a hole for its data."""
    checkpoint, _ = read_checkpoint(table)
    assert checkpoint is not None
    directory.mkdir(parents=True)
    (directory / "config.json").write_text(json.dumps(checkpoint.config.data))
    names = sorted(checkpoint.headers, key=layer_and_name)
    each = -(-len(names) // FILES)
    weight_map = {}
    for number in range(FILES):
        file = f"model-{number + 1:05}-of-{FILES:05}.safetensors"
        held = names[number * each : (number + 1) * each]
        write_header(directory / file, {name: tuple(checkpoint.headers[name]) for name in held})
        weight_map |= dict.fromkeys(held, file)
    (directory / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))


def layer_and_name(name: str) -> tuple[int, str]:
    """Where files have a tensor: by its layer, the first number in its name; those of no layer come first."""
    found = re.search(r"\d+", name)
    return (int(found[0]) if found else -1, name)


def write_header(path: Path, tensors: dict[str, tuple[str, tuple[int, ...]]]) -> None:
    """A file with this header, as long as its data would be."""
    entries = {}
    at = 0
    for name, (dtype, shape) in tensors.items():
        end = at + nbytes(dtype, shape)
        entries[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, end]}
        at = end
    text = json.dumps(entries, separators=(",", ":")).encode()
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.truncate(8 + len(text) + at)
