"""Local tensors as DTensors over a DeviceMesh, where a placement is their layout."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from os import PathLike
from typing import Any, Unpack

import torch

from shardc.runtime.choices import Headers
from shardc.runtime.config import Config
from shardc.runtime.distributed import MeshLike, device_mesh_names, dim_names, is_device_mesh
from shardc.runtime.errors import Finding, ShardError
from shardc.runtime.indexes import read_config
from shardc.runtime.loading import Options, location
from shardc.runtime.members import listed
from shardc.runtime.meshes import mesh
from shardc.runtime.placements import Placements, dtensor_class
from shardc.runtime.planning import Mesh
from shardc.runtime.presharded import whole_headers
from shardc.runtime.spreading import Spread, spread
from shardc.runtime.tensors import Spec


def placements(
    spec: Spec, config: Config, given: MeshLike, headers: Headers | None = None, *, fused: bool = True
) -> dict[str, Placements | str]:
    """For each tensor of this rank its placement by mesh dim, or in words why no placements are its layout.

    The mesh dims are those of a DeviceMesh, in its order, or those that a mapping names. Raises ShardError.
    """
    rank = mesh(spec.mesh, extra=given)
    found = spread(spec, config, rank, dim_names(given), headers, fused=fused)
    return {
        name: one.placements if isinstance(one.placements, str) else dict(one.placements) for name, one in found.items()
    }


def dtensor_mesh(given: object, rank: Mesh, device: torch.device | str) -> Any:
    """The DeviceMesh that DTensors on `device` will be over. Raises SHD410 with every fault."""
    if not is_device_mesh(given):
        raise ShardError(("SHD410", "as_dtensor=True needs mesh=DeviceMesh"))
    over: Any = given
    has = device_mesh_names(over)
    findings: list[Finding] = [
        (
            "SHD410",
            f"as_dtensor=True needs {name} in the DeviceMesh, which has {', '.join(has)}: {name}_size is {one.size}",
        )
        for name, one in rank.items()
        if one.size > 1 and name not in has
    ]
    kind = torch.device(device).type
    if kind != over.device_type:
        findings.append(("SHD410", f"as_dtensor=True: device is {kind}, and the DeviceMesh is of {over.device_type}"))
    if findings:
        raise ShardError(*findings)
    return over


def as_dtensors(
    spec: Spec,
    checkpoint_dir: str | PathLike[str],
    local: Mapping[str, torch.Tensor],
    rank: Mesh,
    over: Any,
    **options: Unpack[Options],
) -> dict[str, torch.Tensor]:
    """The tensors that were loaded with these options, each a DTensor on the same memory, or plain where none can be.

    Plain ones are counted in one warning (SHD430). A tied tensor stays the same object as its twin. No communication.
    """
    directory = location(checkpoint_dir, options)
    config, headers = read_config(directory), whole_headers(directory)
    spreads = spread(spec, config, rank, device_mesh_names(over), headers, fused=options.get("fused", True))
    gaps = {name: one.placements for name, one in spreads.items() if isinstance(one.placements, str)}
    if gaps:
        warnings.warn(f"SHD430: {gaps_in_words(gaps, len(spreads))}", stacklevel=3)
    wrapped: dict[int, torch.Tensor] = {}
    for name, tensor in local.items():
        if id(tensor) not in wrapped:
            wrapped[id(tensor)] = as_dtensor(tensor, spreads[name], over)
    return {name: wrapped[id(tensor)] for name, tensor in local.items()}


def as_dtensor(local: torch.Tensor, layout: Spread, over: Any) -> torch.Tensor:
    """One DTensor over the mesh dims of its placements; the plain tensor where it has none."""
    if isinstance(layout.placements, str):
        return local
    names = tuple(layout.placements)
    wrapped: torch.Tensor = dtensor_class("DTensor").from_local(
        local,
        over if len(names) == over.ndim else over[names],
        list(layout.placements.values()),
        run_check=False,
        shape=torch.Size(layout.shape),
        stride=torch.empty(layout.shape, device="meta").stride(),
    )
    return wrapped


def gaps_in_words(gaps: Mapping[str, str], tensors: int) -> str:
    """How many tensors have no placements, which, and why the first of them."""
    first = next(iter(gaps))
    which = f"{len(gaps)} of {tensors} tensors are plain, not DTensors: {listed(list(gaps))}"
    return f"{which}; placements() says why of each, of {first}: {gaps[first]}"
