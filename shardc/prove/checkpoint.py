"""The reference's weights as a published checkpoint: config.json and one safetensors file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from shardc.plan.bound import bind
from shardc.plan.evidence import Evidence
from shardc.plan.resolved import Resolved
from shardc.prove.family import Tensors

_STORED = {"BF16": torch.bfloat16, "F32": torch.float32, "F16": torch.float16}


def write_checkpoint(folder: Path, config: Mapping[str, Any], tensors: Tensors, spec: Resolved) -> None:
    """Floats are stored as the spec says that files store them, BF16 where it leaves a choice; others as they are."""
    dtypes = _dtypes(config, tensors, spec)
    stored = {
        name: tensor.to(_STORED[dtypes.get(name, "BF16")]) if tensor.is_floating_point() else tensor
        for name, tensor in tensors.items()
    }
    save_file(stored, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")


def _dtypes(config: Mapping[str, Any], tensors: Tensors, spec: Resolved) -> dict[str, str]:
    """The first dtype that the spec allows each dense tensor, if BF16 is not one of them."""
    headers = {name: ("BF16", tuple(tensor.shape)) for name, tensor in tensors.items()}
    bound = bind(spec, Evidence("reference", config, headers))
    if bound.findings:
        return {}
    return {
        name: next((dtype for dtype in family.entry.dtypes if dtype in _STORED), "BF16")
        for family in bound.families
        if "BF16" not in family.entry.dtypes
        for part in family.stored.parts
        for name in part.names
    }
