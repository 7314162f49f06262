"""What a rank should hold, by plain reads and a plain slice, and whether it does."""

from __future__ import annotations

from bench.loading.methods import Job, Tensors, places


def differences(job: Job, rank: int, loaded: Tensors, *, whole_allowed: bool = False) -> list[str]:
    """What of the tensors is not byte for byte what the rank should hold, by name; empty where all is.

    whole_allowed: a tensor may also be whole where the workload cuts it, as a library's own plan may have it.
    """
    faults = [f"{name} is not in the checkpoint" for name in loaded.keys() - job.tensors.keys()]
    faults += [f"{name} is missing" for name in job.tensors.keys() - loaded.keys()]
    for place in places(job):
        if place.name not in loaded:
            continue
        with place.path.open("rb") as file:
            file.seek(place.begin)
            full = file.read(place.end - place.begin)
        wanted = [part_of(job, place.name, full, rank), *([full] if whole_allowed else [])]
        if bytes_of(loaded, place.name) not in wanted:
            faults.append(f"{place.name} differs")
    return sorted(faults)


def part_of(job: Job, name: str, full: bytes, rank: int) -> bytes:
    """The bytes of the rank's part of a tensor."""
    part = job.part(name, rank)
    if part is None:
        return full
    if part[0] == 0:
        size = len(full) // job.tp
        return full[rank * size : (rank + 1) * size]
    row = len(full) // job.tensors[name].shape[0]
    begin, size = rank * row // job.tp, row // job.tp
    return b"".join(full[at + begin : at + begin + size] for at in range(0, len(full), row))


def bytes_of(loaded: Tensors, name: str) -> bytes:
    """The bytes of a loaded tensor, in row-major order."""
    import torch

    return loaded[name].contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
