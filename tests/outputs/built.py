"""What an output is, by two programs: its pieces as the interpreter has them, and what the generated module loads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from shardc.emit.module import module
from shardc.plan.output_layout import Box
from shardc.plan.output_ranks import LocalOutput, outputs
from shardc.plan.proof import prove
from shardc.runtime.dtypes import TORCH_DTYPES
from tests.seeds.model import Config, Model, write_checkpoint
from tests.store.support import same_tensors, shard
from tests.support import plan, rows

Mesh = Mapping[str, tuple[int, int]]
Full = Mapping[str, torch.Tensor]


def built(model: Model, config: Config, full: Full, mesh: Mesh, folder: Path) -> dict[str, torch.Tensor]:
    """The outputs of one rank of a checkpoint with these tensors; `mesh` gives (rank, size).

    They are put together from the interpreter's pieces, loaded by the generated module, cut from memory by it, and
    loaded from the rank's own files; all have to be equal, and beside them has to be what goes into no output.
    """
    headers = {name: (model.module.rt.FILE_DTYPES[tensor.dtype], tuple(tensor.shape)) for name, tensor in full.items()}
    made = plan(model.text, config, {dim: size for dim, (_, size) in mesh.items()}, headers)
    prove(made)
    rank = {dim: at for dim, (at, _) in mesh.items()}
    local = list(outputs(made, rank))
    assembled = {one.name: assemble(one, full) for one in local}
    directory = write_checkpoint(folder, config, full)
    loaded = model.module.load(directory, mesh=mesh)
    cut = model.module.shard_tensors(full, config, mesh=mesh)
    sizes = {dim: size for dim, (_, size) in mesh.items()}
    own = shard(module(model.spec), directory, folder.with_name(f"{folder.name}-cut"), sizes)
    assert same_tensors(model.module.load(own, mesh=mesh), loaded)
    assert same_tensors(
        model.module.load(own, mesh=mesh, fused=False), model.module.load(directory, mesh=mesh, fused=False)
    )
    members = {name for one in local for names in one.members for name in names}
    assert loaded.keys() == cut.keys() == (rows(made, rank).keys() - members) | assembled.keys()
    for name, tensor in assembled.items():
        assert same(loaded[name], tensor), name
        assert same(cut[name], tensor), name
    return assembled


def assemble(output: LocalOutput, full: Full) -> torch.Tensor:
    """The output, element by element; each has to be written once."""
    layout = output.layout
    local = torch.zeros(layout.shape, dtype=torch.float64)
    written = torch.zeros(layout.shape, dtype=torch.int64)
    for element, names in enumerate(output.members):
        values, counts = (t if layout.stacked is None else t[element] for t in (local, written))
        for piece in layout.pieces:
            source = full[names[piece.member]]
            source = source.reshape(()) if not piece.source else source
            assert counts[grid(piece.to)].max() == 0
            values[grid(piece.to)] = numbers(source)[grid(piece.source)].reshape(values[grid(piece.to)].shape)
            counts[grid(piece.to)] += 1
        for box in layout.zeros:
            counts[grid(box)] += 1
    if layout.stacked is not None:
        written[layout.stacked :] += 1
    assert torch.equal(written, torch.ones_like(written))
    dtype = TORCH_DTYPES[layout.dtype]
    return local.to(torch.uint8).view(dtype) if dtype.itemsize == 1 else local.to(dtype)


def grid(box: Box) -> Any:
    """A box as an index of a tensor."""
    dims = [
        torch.tensor([one.start + i * one.pitch + row for i in range(one.count) for row in range(one.size)])
        for one in box
    ]
    return tuple(dim.reshape([-1 if i == at else 1 for i in range(len(dims))]) for at, dim in enumerate(dims))


def numbers(tensor: torch.Tensor) -> torch.Tensor:
    """The elements as numbers; those of one byte by their bits."""
    return (tensor.contiguous().view(torch.uint8) if tensor.dtype.itemsize == 1 else tensor).double()


def same(one: torch.Tensor, other: torch.Tensor) -> bool:
    return (one.dtype, one.shape) == (other.dtype, other.shape) and torch.equal(numbers(one), numbers(other))
