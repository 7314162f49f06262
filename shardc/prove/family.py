"""What the harness has to know of a reference class: names in the file, and numbers that follow from shapes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

Tensors = dict[str, torch.Tensor]
#: Sets the counts of a module (heads, groups, channels) by the shapes of its own weights.
Count = Callable[[Any], None]
#: (layout in the file of a transformers model's tensors, or back); it may see the config.
Relayout = Callable[[Tensors, Mapping[str, Any]], Tensors]


def as_it_is(tensors: Tensors, config: Mapping[str, Any]) -> Tensors:
    """The layout that transformers writes is the published one."""
    return tensors


@dataclass(frozen=True)
class Family:
    """What is particular to some model types of transformers.

    counts: by the name of a module's class.
    renames: (pattern, replacement) of names that transformers writes, to those of published files; `back` are those
    that undo it. A pattern is a regular expression; of each list the first that matches is taken.
    to_file, from_file: layouts of tensors that differ in published files, after (before) the renames.
    reduced: by the class of a norm, what it takes the mean square of, from itself and what its forward pass is given.
    elsewhere: names that begin so are weights that the spec ignores, since another process has them: a vision tower.
    length: tokens that it takes to use every part of the model.
    """

    model_types: tuple[str, ...]
    counts: Mapping[str, Count] = field(default_factory=dict)
    renames: tuple[tuple[str, str], ...] = ()
    back: tuple[tuple[str, str], ...] = ()
    to_file: Relayout = as_it_is
    from_file: Relayout = as_it_is
    reduced: Mapping[str, Callable[..., torch.Tensor]] = field(default_factory=dict)
    elsewhere: tuple[str, ...] = ()
    length: int = 24


def renamed(name: str, rules: tuple[tuple[str, str], ...]) -> str:
    """The name after the first rule that matches it."""
    for pattern, replacement in rules:
        new, count = re.subn(pattern, replacement, name)
        if count:
            return new
    return name


def rows(module: nn.Module) -> int:
    """Output features of a linear layer on this rank."""
    weight = module.weight
    assert isinstance(weight, torch.Tensor)
    return weight.shape[0]


def grouped_query(module: Any) -> None:
    """Query heads that share a key and value head: those of q_proj on this rank by those of k_proj."""
    module.num_key_value_groups = rows(module.q_proj) // rows(module.k_proj)
