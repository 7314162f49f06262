"""The device mesh as one rank sees it: its coordinate on each mesh dim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from shardc.runtime.arithmetic import is_whole_number
from shardc.runtime.distributed import MeshLike, coordinates
from shardc.runtime.errors import ShardError


class MeshDim(NamedTuple):
    """One direction of the mesh. whole_file: this pass asks what the file holds, for no rank in particular."""

    name: str
    rank: int
    size: int
    whole_file: bool = False

    @property
    def is_first(self) -> bool:
        """True on the first rank, of one rank too."""
        return self.rank == 0

    @property
    def is_last(self) -> bool:
        """True on the last rank, of one rank too."""
        return self.rank == self.size - 1


def mesh(
    names: Sequence[str],
    tp_rank: int | None = None,
    tp_size: int = 1,
    extra: MeshLike | None = None,
) -> dict[str, MeshDim]:
    """Every mesh dim of a model, in the order of `names`; a dim that nobody gives is rank 0 of 1.

    `extra` gives (rank, size) by name: `{"ep": (0, 4)}`; it may give tp too, or be something of torch.distributed
    (`coordinates`). Raises SHD410 with every fault.
    """
    given, findings = coordinates(names, extra)
    if (tp_rank, tp_size) != (None, 1):
        if "tp" in given:
            findings.append(("SHD410", "tp is given twice: in mesh, and by tp_rank and tp_size"))
        given["tp"] = (tp_rank, tp_size)
    for name, coordinate in given.items():
        findings += [("SHD410", text) for text in coordinate_faults(names, name, coordinate)]
    if findings:
        raise ShardError(*findings)
    dims = {}
    for name in names:
        rank, size = given.get(name, (0, 1))
        dims[name] = MeshDim(name, rank or 0, size)
    return dims


def mesh_of(
    names: Sequence[str], rank: int | Mapping[str, tuple[int | None, int]], tp_size: int = 1
) -> dict[str, MeshDim]:
    """The mesh of one of several ranks: its number of `tp_size`, or its coordinates. Raises SHD410."""
    if isinstance(rank, Mapping):
        return mesh(names, tp_size=tp_size, extra=rank)
    return mesh(names, rank, tp_size)


def coordinate_faults(names: Sequence[str], name: str, coordinate: Any) -> list[str]:
    """What is wrong with one (rank, size), in words."""
    if name not in names:
        return [f"unknown mesh dim {name}: this model has {', '.join(names)}"]
    if not isinstance(coordinate, tuple | list) or len(coordinate) != 2:
        return [f"{name} must be (rank, size), not {coordinate!r}"]
    rank, size = coordinate
    if not is_whole_number(size):
        return [f"{name}_size must be a whole number, not {size!r}"]
    if size < 1:
        return [f"{name}_size {size} is below 1"]
    if rank is None:
        return [f"{name}_rank is needed: {name}_size is {size}"] if size > 1 else []
    if not is_whole_number(rank):
        return [f"{name}_rank must be a whole number, not {rank!r}"]
    return [] if 0 <= rank < size else [f"{name}_rank {rank} is outside 0..{size - 1}"]
