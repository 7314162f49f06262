"""What a kernel requires of local sizes, checked on the rank at hand."""

from __future__ import annotations

from collections.abc import Mapping

from shardc.runtime.errors import ShardError
from shardc.runtime.meshes import MeshDim


def contract(name: str, requirement: str, holds: bool, values: Mapping[str, int], mesh_dim: MeshDim) -> None:
    """Raises SHD301 where a kernel's requirement does not hold; `values` are the local sizes it is about."""
    if holds or mesh_dim.whole_file:
        return
    sizes = ", ".join(f"{symbol} = {value}" for symbol, value in values.items())
    where = f"on {mesh_dim.name} rank {mesh_dim.rank} of {mesh_dim.size}"
    raise ShardError(("SHD301", f"{name} needs {requirement}: {sizes} {where}"))
