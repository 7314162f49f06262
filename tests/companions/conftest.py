"""The example specs of this folder, and adapters as PEFT saves them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from tests.seeds.model import Model, numbered

SPECS = Path(__file__).parent / "specs"
BASE = {
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 2,
    "intermediate_size": 12,
}
ModelOf = Callable[[str], Model]


@pytest.fixture(scope="session")
def model_of(tmp_path_factory: pytest.TempPathFactory) -> ModelOf:
    """An example spec by its name, interpreted and generated; each made once."""
    made: dict[str, Model] = {}

    def make(name: str) -> Model:
        if name not in made:
            made[name] = Model((SPECS / f"{name}.yaml").read_text(), tmp_path_factory.mktemp(name))
        return made[name]

    return make


def write_adapter(
    directory: Path, adapter: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]], base: Mapping[str, Any] = BASE
) -> Path:
    """adapter_model.safetensors, whose tensors count from 0, with adapter_config.json and the base's config.json."""
    directory.mkdir()
    (directory / "config.json").write_text(json.dumps(base))
    (directory / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", **adapter}, indent=2))
    tensors = {name: numbered(shape, torch.float32) for name, shape in shapes.items()}
    save_file(tensors, directory / "adapter_model.safetensors")
    return directory
