"""A tensor has placements if and only if there are some that give every rank what it keeps, and the ranks agree."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import torch
from hypothesis import given, settings
from torch.distributed.tensor import Partial, Placement, Replicate, Shard

from tests import support
from tests.laws.specs import Case, dense_cases, quantised_cases
from tests.laws.test_generated import ranks

Kept = tuple[tuple[int | None, ...], ...]  # for each dim the rows of the file, None for a row of zero


@settings(max_examples=15)
@given(dense_cases())
def test_dense(case: Case) -> None:
    check(case)


@settings(max_examples=15)
@given(quantised_cases())
def test_quantised(case: Case) -> None:
    check(case)


def check(case: Case) -> None:
    spec = support.resolved(case.text)
    with TemporaryDirectory() as folder:
        module = support.generated(spec, Path(folder))
    headers = case.headers and {name: module.rt.Header(*header) for name, header in case.headers.items()}
    kept: dict[tuple[int, ...], dict[str, Kept]] = {}
    told: dict[tuple[int, ...], dict[str, Any]] = {}
    shapes: dict[str, tuple[int, ...]] = {}
    try:
        for rank in ranks(case.mesh):
            mesh = {dim: (rank[dim], case.mesh[dim]) for dim in module.MESH}
            at = tuple(rank[dim] for dim in module.MESH)
            shards = [shard for shard in module.plan(case.config, mesh, headers) if shard.values is None]
            kept[at] = {shard.name: tuple(map(rows, shard.at)) for shard in shards}
            shapes |= {shard.name: shard.shape for shard in shards}
            told[at] = module.placements(case.config, mesh, headers)
    except module.rt.ShardError:
        return
    check_ranks(module, case.mesh, kept, told, shapes)


def rows(spans: Iterable[tuple[int, int, int]]) -> tuple[int | None, ...]:
    return tuple(row for start, stop, pad in spans for row in (*range(start, stop), *[None] * pad))


def check_ranks(
    module: ModuleType,
    sizes: Mapping[str, int],
    kept: Mapping[tuple[int, ...], Mapping[str, Kept]],
    told: Mapping[tuple[int, ...], Mapping[str, Any]],
    shapes: Mapping[str, tuple[int, ...]],
) -> None:
    for at, tensors in kept.items():
        for name in tensors:
            over = [dim for dim in module.MESH if dim != "pp" and on_all(module, sizes, kept, at, dim, name)]
            group = {
                other: have[name]
                for other, have in kept.items()
                if name in have
                and all(a == b for dim, a, b in zip(module.MESH, at, other, strict=True) if dim not in over)
            }
            answers = [told[other][name] for other in group]
            assert all(isinstance(answer, str) == isinstance(answers[0], str) for answer in answers)
            local = {tuple(other[module.MESH.index(dim)] for dim in over): rows for other, rows in group.items()}
            mesh = [sizes[dim] for dim in over]
            if isinstance(answers[0], str):
                each = [[Replicate(), Partial("sum"), *map(Shard, range(len(shapes[name])))] for _ in over]
                assert not over or not any(fits(way, mesh, shapes[name], local) for way in itertools.product(*each))
            else:
                assert all(answer == answers[0] for answer in answers)
                assert list(answers[0]) == over
                assert fits(list(answers[0].values()), mesh, shapes[name], local)


def on_all(
    module: ModuleType, sizes: Mapping[str, int], kept: Mapping[tuple[int, ...], Mapping[str, Kept]],
    at: tuple[int, ...], dim: str, name: str,
) -> bool:  # fmt: skip
    """Whether all ranks beside this one on a mesh dim have the tensor."""
    place = module.MESH.index(dim)
    return all(name in kept[(*at[:place], i, *at[place + 1 :])] for i in range(sizes[dim]))


def fits(
    way: Iterable[Placement], mesh: list[int], shape: tuple[int, ...], local: Mapping[tuple[int, ...], Kept]
) -> bool:
    """Whether each rank keeps what DTensor would give it, cut by torch itself, one mesh dim after the other."""
    ways = list(way)
    return all(rows == dealt(ways, mesh, shape, at) for at, rows in local.items())


def dealt(way: list[Placement], mesh: list[int], shape: tuple[int, ...], at: tuple[int, ...]) -> Kept:
    dims: list[tuple[int | None, ...]] = [tuple(range(size)) for size in shape]
    for placement, size, rank in zip(way, mesh, at, strict=True):
        if isinstance(placement, Shard):
            parts = torch.arange(len(dims[placement.dim])).chunk(size)
            mine = parts[rank].tolist() if rank < len(parts) else []
            dims[placement.dim] = tuple(dims[placement.dim][i] for i in mine)
        elif isinstance(placement, Partial) and rank > 0:
            return tuple((None,) * size for size in shape)
    return tuple(dims)
