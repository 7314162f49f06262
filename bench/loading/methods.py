"""What a method of loading is, and the checkpoint that it is given."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.loading.workloads import Stored, Workload

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Job:
    """What is to be loaded. folder: the checkpoint. made: the method's own file, which it reads in its place, if any.

    threads: of our loader and of the limits; None: our loader's own choice.
    """

    workload: Workload
    folder: Path
    tp: int
    threads: int | None = None
    made: Path | None = None

    @cached_property
    def files(self) -> tuple[Path, ...]:
        """The checkpoint's safetensors files."""
        return tuple(sorted(self.folder.glob("*.safetensors")))

    @cached_property
    def tensors(self) -> Mapping[str, Stored]:
        """Every tensor by name."""
        return {tensor.name: tensor for tensor in self.workload.tensors}

    def part(self, name: str, rank: int) -> tuple[int, int, int] | None:
        """(dim, start, length) of what the rank keeps; None: all of it."""
        tensor = self.tensors[name]
        if tensor.dim is None:
            return None
        length = tensor.shape[tensor.dim] // self.tp
        return tensor.dim, rank * length, length

    def narrow(self, name: str, full: torch.Tensor, rank: int) -> torch.Tensor:
        """The rank's part of a full tensor, a view of it."""
        part = self.part(name, rank)
        return full.narrow(*part) if part else full

    def own(self, name: str, full: torch.Tensor, rank: int) -> torch.Tensor:
        """The rank's part of a full tensor, in contiguous memory of its own."""
        import torch

        return self.narrow(name, full, rank).clone(memory_format=torch.contiguous_format)

    def local_shape(self, name: str) -> tuple[int, ...]:
        """Shape of a rank's part."""
        tensor, part = self.tensors[name], self.part(name, 0)
        return tuple(part[2] if part and part[0] == dim else size for dim, size in enumerate(tensor.shape))


class Place:
    """A tensor's bytes in a file: begin and end count from the start of the file."""

    def __init__(self, path: Path, name: str, begin: int, end: int) -> None:
        self.path, self.name, self.begin, self.end = path, name, begin, end


def places(job: Job) -> list[Place]:
    """Where every tensor of the checkpoint lies, in the order of files and of their bytes."""
    found: list[Place] = []
    for path in job.files:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(length))
        begins = ((name, *entry["data_offsets"]) for name, entry in header.items() if name != "__metadata__")
        found += [Place(path, name, 8 + length + begin, 8 + length + end) for name, begin, end in begins]
    return sorted(found, key=lambda place: (place.path, place.begin))


Tensors = dict[str, "torch.Tensor"]


@dataclass(frozen=True)
class Method:
    """A way to load.

    load: one rank's tensors by name, on the CPU and not aliasing a file. load_all: those of each rank, by one call.
    prepare: what is not to be timed, imports above all; is given the job and the ranks.
    make: writes the method's own file or folder (`suffix`), once for a workload.
    compared: False for a limit, which loads no tensors. refuses: why a workload can't be loaded, by its name.
    """

    name: str
    prepare: Callable[[Job, list[int]], object]
    load: Callable[[Job, int], Tensors] | None = None
    load_all: Callable[[Job, list[int]], list[Tensors]] | None = None
    make: Callable[[Job, Path], None] | None = None
    suffix: str = ""
    compared: bool = True
    environment: Mapping[str, str] = field(default_factory=dict)
    refuses: Mapping[str, str] = field(default_factory=dict)


def imports(*modules: str) -> Callable[[Job, list[int]], Any]:
    """A `prepare` that imports modules."""

    def prepare(job: Job, ranks: list[int]) -> None:
        import importlib

        for module in modules:
            importlib.import_module(module)

    return prepare
