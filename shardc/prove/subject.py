"""What is proved about: a reference model, its checkpoint, and what it computes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from msgspec import Struct

from shardc.plan.resolved import Resolved
from shardc.prove import reference
from shardc.prove.checkpoint import write_checkpoint
from shardc.prove.families import family_of
from shardc.prove.files import to_file
from shardc.prove.rank import complete
from shardc.prove.small import read_small

#: Parameters beyond which a model with random weights is more than a machine should be asked for.
LARGEST = 2_000_000_000


class Subject(Struct, frozen=True):
    """A model as a whole.

    origin: the file of its config. checkpoint: the directory of its weights. tokens: [batch, length] ids; wanted: the
    model's answer to them; completed: what it goes on with. seen: what its modules put out, by name, in the order in
    which they come to an end.
    """

    config: Mapping[str, Any]
    origin: Path
    checkpoint: Path
    parameters: int
    tokens: torch.Tensor
    wanted: torch.Tensor
    completed: tuple[tuple[int, ...], ...]
    seen: Mapping[str, torch.Tensor]

    @property
    def name(self) -> str:
        """Of the small config, or of the checkpoint's directory."""
        return self.origin.resolve().parent.name if self.origin.name == "config.json" else self.origin.stem

    @property
    def architecture(self) -> str:
        """The class of the model."""
        return str(self.config["architectures"][0])


def made_up(origin: Path, spec: Resolved, folder: Path) -> Subject:
    """A model of a config file with random weights, written to `folder` as published checkpoints of its kind are.

    Raises reference.NoReference, and ValueError where the file is no config.
    """
    config = read_small(origin)
    with torch.device("meta"):
        size = sum(one.numel() for one in reference.build(config).parameters())
    if size > LARGEST:
        billions = f"{size / 1e9:.1f} billion parameters"
        raise reference.NoReference(f"the config is of a model of {billions}; give one with smaller sizes")
    with reference.one_thread():
        torch.manual_seed(reference.SEED)
        model = reference.build(config)
        family = family_of(str(config["model_type"]))
        reference.randomise(model, family)
        write_checkpoint(folder, config, to_file(model, family, config), spec)
        return _answered(model, config, origin, folder, reference.inputs(model.config, family), 0, watch=True)


def published(checkpoint: Path, tokens: torch.Tensor | None = None, more: int = 0) -> Subject:
    """A checkpoint of safetensors, as transformers loads it. Raises reference.NoReference, OSError, and ValueError."""
    origin = checkpoint / "config.json"
    config = read_small(origin)
    if config.get("quantization_config"):
        raise reference.NoReference(f"{origin}: a quantised model computes something else; give one in BF16")
    cls = reference.model_class(config)
    with reference.told_of(f"load {checkpoint}"):
        model = cls.from_pretrained(checkpoint, dtype=reference.COMPUTE, attn_implementation="eager")
    model = reference.ready(model, config)
    family = family_of(str(config["model_type"]))
    ids = reference.inputs(model.config, family) if tokens is None else tokens
    return _answered(model, config, origin, checkpoint, ids, more, watch=False)


def _answered(
    model: Any,
    config: Mapping[str, Any],
    origin: Path,
    checkpoint: Path,
    tokens: torch.Tensor,
    more: int,
    *,
    watch: bool,
) -> Subject:
    family = family_of(str(config["model_type"]))
    with torch.no_grad():
        with reference.watched(model, watch) as seen:
            wanted = reference.ask(model, family, tokens)
        completed = complete(model, family, tokens, more)
    size = sum(one.numel() for one in model.parameters())
    return Subject(config, origin, checkpoint, size, tokens, wanted, completed, seen)
