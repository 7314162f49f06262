"""What is proved about: a reference model, its checkpoint, and what it computes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from shardc.plan.resolved import Resolved
from shardc.prove import reference
from shardc.prove.checkpoint import write_checkpoint
from shardc.prove.families import family_of
from shardc.prove.files import to_file
from shardc.prove.rank import complete

#: Parameters beyond which a model with random weights is more than a machine should be asked for.
LARGEST = 2_000_000_000


class TooLarge(Exception):
    """The config is of a model that is too large to be made up."""


@dataclass(frozen=True)
class Subject:
    """A model as a whole.

    checkpoint: the directory of its file. tokens: [batch, length] ids; wanted: the model's answer to them; completed:
    what it goes on with. seen: what its modules put out, by name, in the order in which they come to an end.
    """

    config: Mapping[str, Any]
    checkpoint: Path
    parameters: int
    tokens: torch.Tensor
    wanted: torch.Tensor
    completed: tuple[tuple[int, ...], ...]
    seen: Mapping[str, torch.Tensor]

    @property
    def architecture(self) -> str:
        """The class of the model."""
        return str(self.config["architectures"][0])


def made_up(config: Mapping[str, Any], spec: Resolved, folder: Path) -> Subject:
    """A model of the config with random weights, written to `folder` as published checkpoints of its kind are.

    Raises reference.UnknownModel, and TooLarge.
    """
    with torch.device("meta"):
        size = sum(one.numel() for one in reference.build(config).parameters())
    if size > LARGEST:
        raise TooLarge(f"the config is of a model of {size / 1e9:.1f} billion parameters; give one with smaller sizes")
    torch.manual_seed(reference.SEED)
    model = reference.build(config)
    reference.randomise(model)
    family = family_of(str(config["model_type"]))
    for module in model.modules():
        fill = family.tables.get(type(module).__name__)
        if fill is not None:
            fill(module)
    write_checkpoint(folder, config, to_file(model, family, config), spec)
    return _answered(model, config, folder, reference.inputs(model.config, family.length), 0, watch=True)


def published(checkpoint: Path, tokens: torch.Tensor | None = None, more: int = 0) -> Subject:
    """A checkpoint of safetensors, as transformers loads it. Raises reference.UnknownModel, and OSError."""
    config = json.loads((checkpoint / "config.json").read_text(encoding="utf-8"))
    cls = reference.model_class(config)
    model = cls.from_pretrained(checkpoint, dtype=reference.COMPUTE, attn_implementation="eager").eval()
    ids = reference.inputs(model.config, family_of(str(config["model_type"])).length) if tokens is None else tokens
    return _answered(model, config, checkpoint, ids, more, watch=False)


def _answered(
    model: Any, config: Mapping[str, Any], checkpoint: Path, tokens: torch.Tensor, more: int, *, watch: bool
) -> Subject:
    with torch.no_grad(), reference.watched(model) as seen:
        wanted = reference.answer(model(input_ids=tokens))
    if not watch:
        seen.clear()
    with torch.no_grad():
        completed = complete(model, tokens, more)
    size = sum(one.numel() for one in model.parameters())
    return Subject(config, checkpoint, size, tokens, wanted, completed, seen)
