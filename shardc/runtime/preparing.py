"""What ranks are to load, checked before anything is allocated: their shards, and where those go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import torch

from shardc.runtime.buffers import Places, places_of
from shardc.runtime.choices import Headers
from shardc.runtime.coverage import check_coverage
from shardc.runtime.cutting import Choices, cut
from shardc.runtime.dtypes import CASTABLE, FILE_DTYPES
from shardc.runtime.errors import Finding, ShardError
from shardc.runtime.members import whole_outputs
from shardc.runtime.placing import Fill, fills_of
from shardc.runtime.planning import Mesh, Survey, rank_tensors, take_survey
from shardc.runtime.presharded import Stock
from shardc.runtime.shards import Layout, Shard
from shardc.runtime.tensors import DENSE, Spec, Tensor


class RankPart(NamedTuple):
    """One rank's part of a checkpoint. twins: tied tensors that the file lacks, and what each is tied to.

    headers: of what is read.
    """

    fills: list[Fill]
    twins: dict[str, str]
    headers: Headers


def parts_of_ranks(
    spec: Spec, stock: Stock, meshes: Sequence[Mesh], cast_to: str | None, *, fused: bool
) -> list[RankPart]:
    """The parts of several ranks. Raises ShardError with every finding of the first check that fails."""
    if not meshes:
        return []
    survey = take_survey(spec.tensors, spec.formats, stock.config, meshes[0], stock.headers)
    check_coverage(survey, stock.headers, spec.ignored)
    if fused:
        whole_outputs(survey.outputs, survey.tensors, survey.choices)
    return [part_of_rank(spec, stock, rank, mesh, survey, cast_to, fused=fused) for rank, mesh in enumerate(meshes)]


def part_of_rank(
    spec: Spec, stock: Stock, number: int, mesh: Mesh, survey: Survey, cast_to: str | None, *, fused: bool
) -> RankPart:
    """The part of one rank, the `number`-th that is loaded."""
    tensors, outputs = rank_tensors(spec.tensors, stock.config, mesh, survey)
    shards, headers = stock.read_as(number, cut(tensors, survey.choices))
    twins = tied_twins(tensors, survey.choices)
    if cast_to:
        shards = [Shard(name, loaded_as(cast_to, layout, spec.dtype)) for name, layout in shards]
    places = places_of(outputs, tensors, survey.choices, shards) if fused else {}
    check_twins(twins, places)
    return RankPart(fills_of(shards, places), twins, headers)


def cast_name(dtype: torch.dtype | None) -> str | None:
    """The file's name of the dtype to cast to. Raises SHD112 where it is no float that weights are computed in."""
    name = FILE_DTYPES.get(dtype) if dtype else None
    if dtype and name not in CASTABLE:
        raise ShardError(("SHD112", f"dtype {dtype} is not one of {', '.join(CASTABLE)}"))
    return name


@lru_cache(maxsize=4096)
def loaded_as(dtype: str, layout: Layout, default: tuple[str, ...]) -> Layout:
    """The layout cast to a dtype: of dense float tensors with the spec's default dtypes, and none of their own."""
    own_dtype = layout.load is not None or layout.dtypes != default
    castable = layout.format == DENSE and not own_dtype and layout.dtype in CASTABLE
    return replace(layout, load=dtype) if castable else layout


def tied_twins(tensors: list[Tensor], choices: Choices) -> dict[str, str]:
    """The tied tensors that the file lacks, and what each is tied to. Raises SHD401 where this rank has no twin."""
    tied = {tensor.name: tensor.family.tied_to for tensor in tensors if choices[tensor.name] is None}
    twins = {name: twin for name, twin in tied.items() if twin}
    if not twins:
        return {}
    here = {name for tensor in tensors if (choice := choices[tensor.name]) for name in choice.names}
    in_file = {name for choice in choices.values() if choice for name in choice.names}
    findings: list[Finding] = [
        ("SHD401", f"{name} is tied to {twin}, which this rank does not have")
        if twin in in_file
        else ("SHD401", f"{name} is missing, and so is {twin}, to which it is tied")
        for name, twin in twins.items()
        if twin not in here
    ]
    if findings:
        raise ShardError(*findings)
    return twins


def check_twins(twins: Mapping[str, str], places: Places) -> None:
    """Raises SHD105 for a tensor that is tied to one that goes into an output."""
    findings: list[Finding] = [
        ("SHD105", f"{name} is tied to {twin}, which goes into {places[twin].buffer.name}")
        for name, twin in twins.items()
        if twin in places
    ]
    if findings:
        raise ShardError(*findings)
