"""Cutting one rank's part out of tensors that are already in memory."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from shardc.runtime.buffers import Places, places_of
from shardc.runtime.config import Config
from shardc.runtime.copies import copy_shard
from shardc.runtime.coverage import check_coverage
from shardc.runtime.cutting import cut
from shardc.runtime.dtypes import FILE_DTYPES
from shardc.runtime.headers import Header
from shardc.runtime.members import whole_outputs
from shardc.runtime.placing import keep_shard
from shardc.runtime.planning import Mesh, rank_tensors, take_survey
from shardc.runtime.shards import Shard
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
    places: Places = {}
    if fused:
        places = places_of(whole_outputs(outputs, tensors, survey.choices), tensors, survey.choices, shards)
    kept: dict[str, torch.Tensor] = {}
    for shard in shards:
        source = full[shard.name]
        if shard.name in places:
            keep_shard(shard, source, source.device, places[shard.name], kept)
        else:
            kept[shard.name] = part_of(source, shard)
    return kept


def header_of(tensor: torch.Tensor) -> Header:
    """What a file's header would say of a tensor; a dtype that no file has keeps torch's name."""
    return Header(FILE_DTYPES.get(tensor.dtype, str(tensor.dtype)), tuple(tensor.shape))


def part_of(tensor: torch.Tensor, shard: Shard) -> torch.Tensor:
    """The rank's part of one tensor."""
    if shard.whole and shard.local_dtype == shard.dtype:
        return tensor
    return copy_shard(shard, tensor, tensor.device)
