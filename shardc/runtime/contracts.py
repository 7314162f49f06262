"""What a kernel requires of local sizes, checked on the rank at hand."""

from __future__ import annotations

from collections.abc import Mapping

from shardc.runtime.errors import has_refused, refuse
from shardc.runtime.meshes import MeshDim


def contract(name: str, requirement: str, holds: bool, values: Mapping[str, int], *mesh_dims: MeshDim) -> None:
    """Raises SHD301 where a kernel's requirement does not hold; `values` are the local sizes it is about.

    `mesh_dims` are those whose ranks may differ in it. Where an axis has been refused, sizes mean nothing.
    """
    if holds or has_refused() or any(dim.whole_file for dim in mesh_dims):
        return
    sizes = ", ".join(f"{symbol} = {value}" for symbol, value in values.items())
    where = ", ".join(f"{dim.name} rank {dim.rank} of {dim.size}" for dim in mesh_dims)
    refuse(("SHD301", f"{name} needs {requirement}: {sizes} on {where}"))
