"""The evidence of a spec: recorded checkpoints, and the meshes on which it is claimed to load them."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Annotated

from pydantic import Field, model_validator

from shardc.spec.fields import FileName, Identifier, Model

#: Ranks of one mesh, meshes of one target, and the sizes of one mesh dim, added up.
MAX_RANKS, MAX_MESHES, MAX_SIZES = 4096, 256, 8192
#: Mesh dims that have a field of their own.
NAMED = ("tp", "ep", "pp")

Sizes = Annotated[list[Annotated[int, Field(ge=1, le=MAX_RANKS)]], Field(min_length=1, max_length=64)]


class Target(Model):
    """A recorded checkpoint and the mesh sizes on which the spec is claimed to load it."""

    checkpoint: FileName = Field(description="specs/checkpoints/<name>.json", examples=["llama-3.1-8b"])
    tp: Sizes = Field([1], description="Sizes of tp.", examples=[[1, 2, 4, 8]])
    ep: Sizes = Field([1], description="Sizes of ep.", examples=[[1, 2]])
    pp: Sizes = Field([1], description="Sizes of pp.", examples=[[1, 2]])
    mesh: dict[Identifier, Sizes] = Field(
        default_factory=dict, max_length=8, description="Sizes of further mesh dims.", examples=[{"attn_tp": [1, 2]}]
    )

    @property
    def sizes(self) -> Mapping[str, list[int]]:
        """The sizes of every mesh dim that it speaks of."""
        return {"tp": self.tp, "ep": self.ep, "pp": self.pp, **self.mesh}

    @model_validator(mode="after")
    def _can_be_tried(self) -> Target:
        for name in NAMED:
            if name in self.mesh:
                raise ValueError(
                    f"{name} has a field of its own: take it out of `mesh:`, and write `{name}:` beside it"
                )
        for name, sizes in self.sizes.items():
            if len(set(sizes)) < len(sizes):
                raise ValueError(f"a size of {name} is given twice")
            if sum(sizes) > MAX_SIZES:
                raise ValueError(f"the sizes of {name} add up to {sum(sizes)}; at most {MAX_SIZES} are tried")
        counts = [len(sizes) for sizes in self.sizes.values()]
        if prod(counts) > MAX_MESHES:
            raise ValueError(f"{_factors(counts)} meshes; at most {MAX_MESHES} are tried for one target")
        largest = [max(sizes) for sizes in self.sizes.values()]
        if prod(largest) > MAX_RANKS:
            raise ValueError(f"{_factors(largest)} ranks; a mesh has at most {MAX_RANKS}")
        return self


def _factors(numbers: list[int]) -> str:
    """`6 × 43`, without ones."""
    return " × ".join(str(n) for n in numbers if n > 1)
