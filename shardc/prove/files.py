"""Between a model's weights and a file: the names and layouts that published checkpoints have.

transformers 5 keeps some weights otherwise than files do (experts stacked, gate and up in one), and knows how to turn
the one into the other; what it gets wrong is put right by the family. All of it turns local tensors as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import torch
from transformers.conversion_mapping import get_model_conversion_mapping
from transformers.core_model_loading import (
    WeightConverter,
    WeightRenaming,
    dot_natural_key,
    rename_source_key,
    revert_weight_conversion,
)

from shardc.prove.family import Family, Tensors, renamed


def to_file(model: Any, family: Family, config: Mapping[str, Any]) -> Tensors:
    """A model's weights by the names of published files; a tied one once."""
    tied = set(getattr(model, "all_tied_weights_keys", None) or ())
    state = {name: tensor.detach() for name, tensor in model.state_dict().items() if name not in tied}
    written = revert_weight_conversion(model, state)
    named = {renamed(name, family.renames): tensor for name, tensor in written.items()}
    return {name: tensor.contiguous() for name, tensor in family.to_file(named, config).items()}


def to_memory(model: Any, family: Family, config: Mapping[str, Any], tensors: Tensors) -> dict[str, tuple[str, ...]]:
    """Puts a rank's tensors in the place of the model's weights, whatever their sizes.

    Returns the names in the file behind each weight. Raises ValueError for a tensor that has no place, and for a weight
    that has no tensor. What is `elsewhere` becomes NaN, so that an answer that depends on it is none.
    """
    there = dict(model.state_dict(keep_vars=True))
    mapping = get_model_conversion_mapping(model)
    renamings = [one for one in mapping if isinstance(one, WeightRenaming)]
    converters = [one for one in mapping if isinstance(one, WeightConverter)]
    by_pattern = {pattern: one for one in converters for pattern in one.source_patterns}
    collected: dict[str, Any] = {}
    behind: dict[str, list[str]] = {}
    again = family.from_file(dict(tensors), config)
    for name in sorted(again, key=dot_natural_key):
        written = renamed(name, family.back)
        target, pattern = rename_source_key(written, renamings, converters, model.base_model_prefix, there)
        if target not in there and written in there:
            target, pattern = written, None
        if target not in there:
            raise ValueError(f"{name} has no place in {type(model).__name__}: {target} is none of its weights")
        one = deepcopy(by_pattern[pattern]) if pattern else WeightRenaming(written, target)
        collected.setdefault(target, one).add_tensor(target, written, pattern or written, again[name])
        behind.setdefault(target, []).append(name)
    sources: dict[str, tuple[str, ...]] = {}
    for first, conversion in collected.items():
        for target, value in conversion.convert(first, model=model, config=model.config).items():
            _put(model, target, value[0] if isinstance(value, list) else value)
            sources[target] = tuple(behind[first])
    tied = getattr(model, "all_tied_weights_keys", None) or {}
    for target, source in tied.items():
        if target not in sources and source in sources:
            _put(model, target, model.get_parameter(source))
            sources[target] = sources[source]
    left = sorted(there.keys() - sources.keys())
    missing = [name for name in left if not name.startswith(family.elsewhere)]
    if missing:
        raise ValueError(f"no tensor for {', '.join(missing[:4])}{' and more' if len(missing) > 4 else ''}")
    for name in left:
        _put(model, name, torch.full_like(there[name], float("nan")))
    return sources


def _put(model: Any, name: str, value: torch.Tensor) -> None:
    path, _, last = name.rpartition(".")
    module = model.get_submodule(path) if path else model
    old = getattr(module, last)
    if old.ndim != value.ndim:
        raise ValueError(f"{name} has {old.ndim} dims, and the rank's tensor {value.ndim}: {list(value.shape)}")
    value = value.to(old.dtype)
    if last in module._buffers:
        module._buffers[last] = value
    else:
        module._parameters[last] = torch.nn.Parameter(value, requires_grad=False)
