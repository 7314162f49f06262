"""What the ranks computed against what the whole model computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from shardc.prove.task import Outcome

#: Float32 sums in another order differ by some 1e-6 of the largest logit; a wrong cut by 1e-2 and more.
TOLERANCE = 1e-4


@dataclass(frozen=True)
class Difference:
    """Between two tensors: the largest |difference|, and that relative to the largest |element| of the reference."""

    absolute: float
    relative: float

    @property
    def small(self) -> bool:
        return self.relative <= TOLERANCE


@dataclass(frozen=True)
class Differing:
    """The first module, in the order in which the reference's come to an end, whose output is another on a rank."""

    module: str
    rank: int
    difference: Difference


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
    """Of the modules whose output has the reference's shape on a rank (others hold a rank's own part)."""
    for module, tensor in wanted.items():
        for one in outcomes:
            found = one.seen.get(module)
            if found is not None and found.shape == tensor.shape:
                apart = difference(found, tensor)
                if not apart.small:
                    return Differing(module, one.rank, apart)
    return None
