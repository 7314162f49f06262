"""A toy checkpoint on disk: config.json, an index and several safetensors files of random bytes."""

from __future__ import annotations

import json
from math import prod
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from scripts.tiny_table import TableEntry, tiny_table

FILES = 3
DTYPES = {"BF16": torch.bfloat16, "F32": torch.float32, "F8_E4M3": torch.float8_e4m3fn}


def write_checkpoint(directory: Path, seed: int = 0) -> None:
    """Writes the toy GLM-5.3-Flash into `directory`; a weight and its scales often lie in different files."""
    config, table = tiny_table()
    random = torch.Generator().manual_seed(seed)
    tensors = {name: random_tensor(entry, random) for name, entry in table.items()}
    names = list(tensors)
    files: dict[str, str] = {}
    directory.mkdir(parents=True, exist_ok=True)
    for number in range(FILES):
        file = f"model-{number + 1:05}-of-{FILES:05}.safetensors"
        held = names[number::FILES]
        save_file({name: tensors[name] for name in held}, directory / file)
        files |= dict.fromkeys(held, file)
    index = {"metadata": {"total_size": byte_count(tensors)}, "weight_map": files}
    (directory / "model.safetensors.index.json").write_text(json.dumps(index, indent=2) + "\n")
    (directory / "config.json").write_text(json.dumps(config, indent=2) + "\n")


def random_tensor(entry: TableEntry, random: torch.Generator) -> torch.Tensor:
    """A tensor of random bytes, NaNs included: what is compared is bytes."""
    dtype = DTYPES[entry.dtype]
    data = torch.randint(256, (prod(entry.shape) * dtype.itemsize,), dtype=torch.uint8, generator=random)
    return data.view(dtype).reshape(entry.shape)


def read_checkpoint(directory: Path) -> dict[str, torch.Tensor]:
    """Every tensor of the checkpoint by name, whole, as the safetensors library reads it."""
    return {name: tensor for file in directory.glob("*.safetensors") for name, tensor in load_file(file).items()}


def byte_count(tensors: dict[str, torch.Tensor]) -> int:
    """Bytes of all tensors."""
    return sum(tensor.nbytes for tensor in tensors.values())
