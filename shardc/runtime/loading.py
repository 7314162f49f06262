"""Reading one rank's part of a checkpoint."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from os import PathLike
from pathlib import Path

import torch

from shardc.runtime.choices import Headers
from shardc.runtime.copies import copy_shard
from shardc.runtime.coverage import check_coverage
from shardc.runtime.cutting import Choices, cut
from shardc.runtime.dtypes import CASTABLE, FILE_DTYPES
from shardc.runtime.errors import Finding, ShardError
from shardc.runtime.indexes import read_config, read_headers
from shardc.runtime.mapped import MappedFile
from shardc.runtime.planning import Mesh, rank_tensors, take_survey
from shardc.runtime.refusals import refuse_directory, refuse_packed
from shardc.runtime.shards import Shard
from shardc.runtime.tensors import DENSE, Spec, Tensor

Progress = Callable[[int, int], object]  # (bytes done, bytes in all), both of this rank


def load(
    spec: Spec,
    checkpoint_dir: str | PathLike[str],
    mesh: Mesh,
    *,
    device: torch.device | str = "cpu",
    dtype: torch.dtype | None = None,
    progress: Progress | None = None,
) -> dict[str, torch.Tensor]:
    """One rank's tensors by name, in the spec's order; a tied tensor that the file lacks is its twin, the same object.

    dtype: what tensors of the spec's default dtype are cast to; those with a dtype of their own, and quantised parts,
    stay as they are. All headers are checked before a tensor is allocated. Raises ShardError; nothing is kept then.
    """
    directory = Path(checkpoint_dir)
    cast_to = cast_name(dtype)
    refuse_directory(directory, mesh["tp"].size if "tp" in mesh else 1)
    config = read_config(directory)
    headers = read_headers(directory)
    refuse_packed(headers)
    survey = take_survey(spec.tensors, spec.formats, config, mesh, headers)
    check_coverage(survey, headers, spec.ignored)
    tensors = rank_tensors(spec.tensors, config, mesh, survey)
    shards = cut(tensors, survey.choices)
    twins = tied_twins(tensors, survey.choices)
    if cast_to:
        shards = [shard._replace(load=cast_to) if is_default_float(shard, spec) else shard for shard in shards]
    loaded = read_shards(shards, headers, device, progress)
    return loaded | {name: loaded[twin] for name, twin in twins.items()}


def cast_name(dtype: torch.dtype | None) -> str | None:
    """The file's name of the dtype to cast to. Raises SHD112 where it is no float that weights are computed in."""
    name = FILE_DTYPES.get(dtype) if dtype else None
    if dtype and name not in CASTABLE:
        raise ShardError(("SHD112", f"dtype {dtype} is not one of {', '.join(CASTABLE)}"))
    return name


def is_default_float(shard: Shard, spec: Spec) -> bool:
    """True for a dense float tensor with the spec's default dtype, and none of its own."""
    own_dtype = shard.load is not None or shard.dtypes != spec.dtype
    return shard.format == DENSE and not own_dtype and shard.dtype in CASTABLE


def tied_twins(tensors: list[Tensor], choices: Choices) -> dict[str, str]:
    """The tied tensors that the file lacks, and what each is tied to. Raises SHD401 where this rank has no twin."""
    here = {stored.name for tensor in tensors if (choice := choices[tensor.name]) for stored in choice.stored}
    twins = {tensor.name: tensor.tied_to for tensor in tensors if tensor.tied_to and choices[tensor.name] is None}
    findings: list[Finding] = [
        ("SHD401", f"{name} is missing, and so is {twin}, to which it is tied")
        for name, twin in twins.items()
        if twin not in here
    ]
    if findings:
        raise ShardError(*findings)
    return twins


def read_shards(
    shards: list[Shard], headers: Headers, device: torch.device | str, progress: Progress | None
) -> dict[str, torch.Tensor]:
    """The local tensors by name, in the order of `shards`; read file by file, in the order of their bytes."""
    by_file: dict[str, list[Shard]] = defaultdict(list)
    for shard in sorted(shards, key=lambda shard: headers[shard.name].begin):
        by_file[headers[shard.name].file].append(shard)
    total, done = sum(shard.local_bytes for shard in shards), 0
    loaded: dict[str, torch.Tensor] = {}
    for file in sorted(by_file):
        mapped = MappedFile(Path(file))
        for shard in by_file[file]:
            header = headers[shard.name]
            loaded[shard.name] = copy_shard(shard, mapped.tensor(shard.name, header), device)
            mapped.drop(header)
            done += shard.local_bytes
            if progress:
                progress(done, total)
    return {shard.name: loaded[shard.name] for shard in shards}
