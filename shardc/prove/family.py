"""What the harness has to know of a reference class: names in the file, and numbers that follow from shapes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import torch
from msgspec import Struct, field
from torch import nn

Tensors = dict[str, torch.Tensor]
#: Sets what a module keeps: counts (heads, groups, channels) by the shapes of its own weights, or a table.
Count = Callable[[Any], None]
#: (layout in the file of a transformers model's tensors, or back); it may see the config.
Relayout = Callable[[Tensors, Mapping[str, Any]], Tensors]


def as_it_is(tensors: Tensors, config: Mapping[str, Any]) -> Tensors:
    """The layout that transformers writes is the published one."""
    return tensors


def blind(config: Any) -> int:
    """The model takes text alone."""
    return 0


def no_pictures(config: Any, ids: torch.Tensor) -> Tensors:
    """Nothing beside the ids."""
    return {}


def sound(model: Any) -> None:
    """The model's class does what it should."""


class PerHead(Struct, frozen=True):
    """Arguments of a module's forward pass with an entry for each head, counted over the whole model.

    names: of the arguments, [batch * heads, ...] or, of four dims, [batch, heads, ...].
    weight: the module's own whose input dim is heads * head_dim.
    """

    names: tuple[str, ...]
    weight: str


class Family(Struct, frozen=True):
    """What is particular to some model types of transformers.

    counts, tables: by the name of a module's class; tables fill integers of the file that its class leaves at zero.
    renames: (pattern, replacement) of names that transformers writes, to those of published files; `back` are those
    that undo it. A pattern is a regular expression; of each list the first that matches is taken.
    to_file, from_file: layouts of tensors that differ in published files, after (before) the renames.
    reduced: by the class of a norm, what it takes the mean square of, from itself and its forward pass's arguments.
    places: of a config, the tokens that stand for one picture; pictures: of a config and ids [batch, length], what a
    forward pass takes beside them where each row has the places of one picture.
    mend: what a class of the installed transformers has wrong, put right in a model of it.
    per_head: by the class of a module, what it is given of every head, of which a rank takes those of its own.
    elsewhere: names that begin so are weights that the spec ignores, since another process has them: a vision tower.
    length: tokens that it takes to use every part of the model.
    """

    model_types: tuple[str, ...]
    counts: Mapping[str, Count] = field(default_factory=dict)
    tables: Mapping[str, Count] = field(default_factory=dict)
    renames: tuple[tuple[str, str], ...] = ()
    back: tuple[tuple[str, str], ...] = ()
    to_file: Relayout = as_it_is
    from_file: Relayout = as_it_is
    reduced: Mapping[str, Callable[..., torch.Tensor]] = field(default_factory=dict)
    places: Callable[[Any], int] = blind
    pictures: Callable[[Any, torch.Tensor], Tensors] = no_pictures
    mend: Callable[[Any], None] = sound
    per_head: Mapping[str, PerHead] = field(default_factory=dict)
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
