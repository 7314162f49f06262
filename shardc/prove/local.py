"""A rank's model: the reference's own class, with the rank's weights, and counts that follow from their shapes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import nn

from shardc.prove import reference
from shardc.prove.family import Family, Tensors, rows
from shardc.prove.files import to_memory


def local_model(config: Mapping[str, Any], family: Family, tensors: Tensors) -> tuple[Any, dict[str, tuple[str, ...]]]:
    """The model, and the names in the file behind each of its weights. Raises ValueError as `to_memory` does."""
    model = reference.build(config)
    sources = to_memory(model, family, config, tensors)
    for module in model.modules():
        _recount(module)
        count = family.counts.get(type(module).__name__)
        if count is not None:
            count(module)
    return model, sources


def _recount(module: nn.Module) -> None:
    """The sizes that torch's own layers keep beside their weights, and attention with q and k apart."""
    match module:
        case nn.Linear():
            module.out_features, module.in_features = module.weight.shape
        case nn.Embedding():
            module.num_embeddings = module.weight.shape[0]
            module.padding_idx = None
        case nn.Conv1d() if module.groups == module.out_channels > 1:
            module.groups = module.in_channels = module.out_channels = module.weight.shape[0]
        case _ if hasattr(module, "num_key_value_groups") and _are_apart(module):
            grouped_query(module)


def _are_apart(module: Any) -> bool:
    return all(isinstance(getattr(module, name, None), nn.Linear) for name in ("q_proj", "k_proj"))


def grouped_query(module: Any) -> None:
    """Query heads that share a key and value head: those of q_proj on this rank by those of k_proj."""
    module.num_key_value_groups = rows(module.q_proj) // rows(module.k_proj)
