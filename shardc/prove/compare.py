"""What the ranks computed against what the whole model computed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import torch
from msgspec import Struct
from msgspec.structs import replace

from shardc.prove.task import Outcome

#: Float32 sums in another order differ by some 1e-6 of the largest logit; a wrong cut by 1e-2 and more.
TOLERANCE = 1e-4
#: The name of a module that is one of a list, and in no other list.
_LAYER = re.compile(r"(?:[a-z_]\w*\.)+\d+")


class Difference(Struct, frozen=True):
    """Between two tensors: the largest |difference|, and that relative to the largest |element| of the reference."""

    absolute: float
    relative: float

    @property
    def small(self) -> bool:
        return self.relative <= TOLERANCE

    def __str__(self) -> str:
        return f"max |difference| {self.absolute:.2g}, {self.relative:.2g} of the largest"


class Differing(Struct, frozen=True):
    """The first module, in the order in which the reference's come to an end, whose output is another on a rank.

    own_parts: the modules before it, after the last that agrees, of which each rank has its own part.
    """

    module: str
    rank: int
    difference: Difference
    own_parts: tuple[str, ...] = ()


def difference(found: torch.Tensor, wanted: torch.Tensor) -> Difference:
    """Both of one shape. A number that is not finite differs without bounds."""
    absolute = float((found - wanted).abs().max()) if wanted.numel() else 0.0
    if absolute != absolute:
        absolute = float("inf")
    return Difference(absolute, absolute / max(float(wanted.abs().max()), 1e-6))


def worst(outcomes: Sequence[Outcome], wanted: torch.Tensor) -> Difference:
    """The largest difference of the ranks' answers; of another shape, without bounds."""
    found = [
        difference(one.answer, wanted)
        if one.answer is not None and one.answer.shape == wanted.shape
        else Difference(float("inf"), float("inf"))
        for one in outcomes
    ]
    return max(found, key=lambda one: one.relative)


def first_differing(outcomes: Sequence[Outcome], wanted: Mapping[str, torch.Tensor]) -> Differing | None:
    """Of the modules whose output has the reference's shape on a rank."""
    own_parts: list[str] = []
    for module in wanted:
        found = _of_module(module, outcomes, wanted)
        if found is None:
            own_parts.append(module)
        elif found.difference.small:
            own_parts.clear()
        else:
            return replace(found, own_parts=tuple(own_parts))
    return None


def by_layer(outcomes: Sequence[Outcome], wanted: Mapping[str, torch.Tensor]) -> list[Differing]:
    """The difference of each layer's output on the rank where it is largest: `model.layers.0`, `h.11`."""
    found = [_of_module(module, outcomes, wanted) for module in wanted if _LAYER.fullmatch(module)]
    return [one for one in found if one is not None]


def _of_module(module: str, outcomes: Sequence[Outcome], wanted: Mapping[str, torch.Tensor]) -> Differing | None:
    """The largest difference of one module's output; None where no rank has all of it."""
    compared = [
        Differing(module, one.rank, difference(found, wanted[module]))
        for one in outcomes
        if (found := one.seen.get(module)) is not None and found.shape == wanted[module].shape
    ]
    return max(compared, key=lambda one: one.difference.relative, default=None)
