"""A rank's coordinates from torch.distributed: from a DeviceMesh, a process group, or the default group."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, Union

import torch

from shardc.runtime.errors import Finding

WORLD = "world"
MeshLike = Union[
    Mapping[str, "tuple[int | None, int] | torch.distributed.ProcessGroup"],
    "torch.distributed.device_mesh.DeviceMesh",
    "torch.distributed.ProcessGroup",
    str,
]


def coordinates(names: Sequence[str], given: Any) -> tuple[dict[str, Any], list[Finding]]:
    """(rank, size) by mesh dim, and what is wrong with what was given (SHD410).

    given: a mapping of (rank, size) or a process group by name; a process group, which is tp; "world", which is tp over
    all processes; or a DeviceMesh. Dims of a DeviceMesh that are none of `names` (dp) are left aside: each of their
    ranks keeps the same. Nothing here communicates.
    """
    if given is None:
        return {}, []
    if isinstance(given, Mapping):
        found = {name: group_coordinate(value) if is_group(value) else value for name, value in given.items()}
        outside = [name for name, coordinate in found.items() if coordinate is None]
        return (
            {name: coordinate for name, coordinate in found.items() if coordinate is not None},
            [("SHD410", f"{name}: this process is not in the process group") for name in outside],
        )
    if is_group(given):
        coordinate = group_coordinate(given)
        return ({"tp": coordinate}, []) if coordinate else no_coordinates("this process is not in the process group")
    if isinstance(given, str) and given == WORLD:
        return world_coordinate()
    if is_device_mesh(given):
        return device_mesh_coordinates(names, given)
    return no_coordinates(f'mesh must be (rank, size) by name, a DeviceMesh, a ProcessGroup or "world", not {given!r}')


def no_coordinates(text: str) -> tuple[dict[str, Any], list[Finding]]:
    """No coordinates, and why."""
    return {}, [("SHD410", text)]


def is_group(given: object) -> bool:
    """True for a process group, and for what torch gives a process that is not in one."""
    outside = getattr(getattr(torch.distributed, "GroupMember", None), "NON_GROUP_MEMBER", None)
    return is_instance(given, "torch.distributed", "ProcessGroup") or (outside is not None and given is outside)


def is_device_mesh(given: object) -> bool:
    """True for a DeviceMesh."""
    return is_instance(given, "torch.distributed.device_mesh", "DeviceMesh")


def is_instance(given: object, module: str, name: str) -> bool:
    """Whether something is of a class that torch may lack, or has not imported yet."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(given, kind)


def group_coordinate(group: Any) -> tuple[int, int] | None:
    """This process's rank in a process group, and the group's size; None for a process that is not in it."""
    if not is_instance(group, "torch.distributed", "ProcessGroup"):
        return None
    rank, size = group.rank(), group.size()
    return (rank, size) if rank >= 0 else None


def world_coordinate() -> tuple[dict[str, Any], list[Finding]]:
    """The coordinate on tp where that is all processes."""
    if not torch.distributed.is_available():
        return no_coordinates('mesh="world" needs torch.distributed, which this torch is built without')
    if not torch.distributed.is_initialized():
        return no_coordinates('mesh="world" needs a process group: call torch.distributed.init_process_group() first')
    return {"tp": (torch.distributed.get_rank(), torch.distributed.get_world_size())}, []


def device_mesh_coordinates(names: Sequence[str], mesh: Any) -> tuple[dict[str, Any], list[Finding]]:
    """The coordinates on those dims of a DeviceMesh that the model has."""
    its_names, model = device_mesh_names(mesh), ", ".join(names)
    if not its_names:
        return no_coordinates(f"a DeviceMesh of {mesh.ndim} dims needs mesh_dim_names: this model has {model}")
    if not set(names) & set(its_names):
        return no_coordinates(f"the DeviceMesh has {', '.join(its_names)}, none of which this model has: {model}")
    ranks = mesh.get_coordinate()
    if ranks is None:
        return no_coordinates("this process is not in the DeviceMesh")
    sizes = tuple(mesh.shape)
    places = zip(its_names, ranks, sizes, strict=True)
    return {name: (rank, size) for name, rank, size in places if name in names}, []


def device_mesh_names(mesh: Any) -> tuple[str, ...]:
    """The names of a DeviceMesh's dims; its only dim, without a name, is tp; () for several without names."""
    if mesh.mesh_dim_names:
        return tuple(mesh.mesh_dim_names)
    return ("tp",) if mesh.ndim == 1 else ()


def dim_names(given: Any) -> tuple[str, ...]:
    """The mesh dims that something given as a mesh has, in its order; those of a DeviceMesh that no model has, too."""
    if is_device_mesh(given):
        return device_mesh_names(given)
    return tuple(given) if isinstance(given, Mapping) else ("tp",)
