"""Cutting one rank's part out of tensors that are already in memory."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from shardc.runtime.buffers import Buffer, places_of
from shardc.runtime.config import Config
from shardc.runtime.coverage import check_coverage
from shardc.runtime.cutting import cut
from shardc.runtime.dtypes import FILE_DTYPES, TORCH_DTYPES
from shardc.runtime.headers import Header
from shardc.runtime.placing import Fill, filling, fills_of
from shardc.runtime.planning import Mesh, rank_tensors, take_survey
from shardc.runtime.tensors import Spec


def shard_tensors(
    spec: Spec, full: Mapping[str, torch.Tensor], config: Config, mesh: Mesh, *, fused: bool = True
) -> dict[str, torch.Tensor]:
    """This rank's part of full tensors by file name, each on its own device; `full` may be a few of a checkpoint.

    A tensor that the rank keeps whole is the very object given; any other has storage of its own.
    fused: an output stands for all of its tensors, of which `full` has to have those of this rank, or none.
    Everything is checked before a tensor is allocated. Raises ShardError.
    """
    headers = {name: header_of(tensor) for name, tensor in full.items()}
    survey = take_survey(spec.tensors, spec.formats, config, mesh, headers, subset=True)
    check_coverage(survey, headers, spec.ignored)
    tensors, outputs = rank_tensors(spec.tensors, config, mesh, survey)
    shards = cut(tensors, survey.choices)
    places = places_of(outputs, tensors, survey.choices, shards) if fused else {}
    kept: dict[str, torch.Tensor] = {}
    for fill in fills_of(shards, places):
        shard, source = fill.shard, full[fill.shard.name]
        if fill.placing.moves is None and shard.layout.whole and shard.local_dtype == shard.dtype:
            kept[shard.name] = source
            continue
        if fill.buffer.name not in kept:
            kept[fill.buffer.name] = allocate(fill.buffer, source.device)
        copy_regions(source, fill, kept[fill.buffer.name])
    return kept


def header_of(tensor: torch.Tensor) -> Header:
    """What a file's header would say of a tensor; a dtype that no file has keeps torch's name."""
    return Header(FILE_DTYPES.get(tensor.dtype, str(tensor.dtype)), tuple(tensor.shape))


def allocate(buffer: Buffer, device: torch.device) -> torch.Tensor:
    """A local tensor, still to be filled; elements in front that are no tensor of the file are zero."""
    tensor = torch.empty(buffer.shape, dtype=TORCH_DTYPES[buffer.dtype], device=device)
    if buffer.filled is not None:
        tensor[buffer.filled :].zero_()
    return tensor


def copy_regions(full: torch.Tensor, fill: Fill, local: torch.Tensor) -> None:
    """One copy for each region of a shard, from its full tensor to the local one, and zeros where padding is."""
    with torch.no_grad():
        if fill.shard.values is not None:
            local.copy_(torch.tensor(fill.shard.values))
            return
        copies, zeros = filling(fill.shard.at, full.stride(), fill.placing)
        for shape, source, target in copies:
            block = full.as_strided(shape, source.strides, full.storage_offset() + source.offset)
            local.as_strided(shape, target.strides, target.offset).copy_(block)
        for shape, target in zeros:
            local.as_strided(shape, target.strides, target.offset).zero_()
