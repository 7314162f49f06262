"""What ranks should hold, by plain reads and a plain slice, and whether they do."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from bench.loading.methods import Job, Tensors, places

if TYPE_CHECKING:
    import torch


def differences(job: Job, loaded: Mapping[int, Tensors], *, whole_allowed: bool = False) -> list[str]:
    """What of the ranks' tensors is not byte for byte what it should be; empty where all is.

    whole_allowed: a tensor may also be whole where the workload cuts it, as a library's own plan may have it.
    """
    faults: list[str] = []
    mapped = mapped_ranges(job)
    for rank, tensors in loaded.items():
        faults += [f"rank {rank}: {name} is not in the checkpoint" for name in tensors.keys() - job.tensors.keys()]
        faults += [f"rank {rank}: {name} is missing" for name in job.tensors.keys() - tensors.keys()]
        faults += [
            f"rank {rank}: {name} is a view of the file" for name in sorted(tensors) if lies_in(tensors[name], mapped)
        ]
    for place in places(job):
        with place.path.open("rb") as file:
            file.seek(place.begin)
            full = bytearray(file.read(place.end - place.begin))
        for rank, tensors in loaded.items():
            if place.name in tensors and not is_part(job, place.name, full, rank, tensors[place.name], whole_allowed):
                faults.append(f"rank {rank}: {place.name} differs")
    return faults


def mapped_ranges(job: Job) -> list[tuple[int, int]]:
    """The addresses at which files of the checkpoint are mapped into this process: begin and end of each range."""
    roots = (str(job.folder), str(job.made or job.folder))
    lines = [line.split(maxsplit=5) for line in Path("/proc/self/maps").read_text().splitlines()]
    ranges = [line[0].split("-") for line in lines if len(line) == 6 and line[5].startswith(roots)]
    return [(int(begin, 16), int(end, 16)) for begin, end in ranges]


def lies_in(tensor: torch.Tensor, ranges: list[tuple[int, int]]) -> bool:
    """True where the tensor's first element lies in one of the ranges."""
    return any(begin <= tensor.data_ptr() < end for begin, end in ranges)


def is_part(job: Job, name: str, full: bytearray, rank: int, tensor: torch.Tensor, whole_allowed: bool) -> bool:
    """True where the tensor has the bytes of the rank's part, in its shape and in row-major order."""
    import torch

    stored = job.tensors[name]
    rows = torch.frombuffer(full, dtype=torch.uint8).view(*(stored.shape[:1] or (1,)), -1)
    kept = bytes_of(tensor)
    if whole_allowed and tensor.shape == stored.shape:
        return torch.equal(kept, rows.view(-1))
    return tuple(tensor.shape) == job.local_shape(name) and torch.equal(kept, part_of(job, name, rows, rank))


def part_of(job: Job, name: str, rows: torch.Tensor, rank: int) -> torch.Tensor:
    """The bytes of the rank's part of a tensor, of which `rows` are those of the first dim."""
    dim = job.tensors[name].dim
    if dim is None:
        return rows.reshape(-1)
    size = rows.shape[dim] // job.tp
    return rows.narrow(dim, rank * size, size).reshape(-1)


def bytes_of(tensor: torch.Tensor) -> torch.Tensor:
    """The bytes of a tensor in row-major order, one dim."""
    import torch

    return tensor.contiguous().reshape(-1).view(torch.uint8)
