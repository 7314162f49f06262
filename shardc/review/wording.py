"""Words that several pages for reviewers use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from shardc.plan.resolved import in_order


def mesh_words(mesh: Mapping[str, int]) -> str:
    """`tp=8 ep=2`; mesh dims of one rank are left out, but never all of them."""
    return " ".join(f"{dim}={size}" for dim, size in mesh.items() if size > 1) or "tp=1"


def meshes_words(meshes: Sequence[Mapping[str, int]]) -> str:
    """`tp=1, 2, 4`; with several mesh dims `tp=1, 2 x ep=1, 2`, where that is all of them."""
    dims = in_order({dim for mesh in meshes for dim, size in mesh.items() if size > 1})
    sizes = {dim: sorted({mesh.get(dim, 1) for mesh in meshes}) for dim in dims}
    if len(dims) <= 1 or prod(map(len, sizes.values())) == len(meshes):
        return " x ".join(f"{dim}={', '.join(map(str, sizes[dim]))}" for dim in dims) or "tp=1"
    return "; ".join(map(mesh_words, meshes))
