"""Tensors that some ranks of a mesh dim have and the others do not: those of a pipeline's first and last stage."""

from __future__ import annotations

from collections.abc import Mapping

#: For each mesh dim that a tensor is kept to, its ends: `first`, `last`. Another mesh dim's ranks all have it.
Ends = Mapping[str, tuple[str, ...]]


def ranks_at(ends: tuple[str, ...], size: int) -> set[int]:
    """The ranks of a mesh dim of `size` that stand at these ends."""
    places = {"first": 0, "last": size - 1}
    return {places[end] for end in ends}


def is_on(on: Ends, mesh: Mapping[str, int], rank: Mapping[str, int]) -> bool:
    """Whether a rank of the mesh has the tensors; it is rank 0 of a mesh dim that it does not speak of."""
    return all(rank.get(over, 0) in ranks_at(ends, mesh.get(over, 1)) for over, ends in on.items())
