"""Every format, from a file to the ranks and back: two programs with one plan, and not a byte that differs."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from scripts.merge import Rank, merge, same_bytes, strays
from shardc.plan.as_json import as_json
from shardc.spec.library import format_names
from tests.formats.checkpoints import SIZES, config, headers, tensors, text
from tests.formats.variants import VARIANTS
from tests.seeds.model import Model, write_checkpoint
from tests.support import compiled

MESHES = [{"tp": 1, "ep": 1}, {"tp": 2, "ep": 1}, {"tp": 4, "ep": 2}]
each_variant = pytest.mark.parametrize("name", VARIANTS)
ModelOf = Callable[[str], Model]


def ranks(sizes: dict[str, int]) -> list[dict[str, tuple[int, int]]]:
    """(rank, size) of each mesh dim, for every rank."""
    every = itertools.product(*([(rank, size) for rank in range(size)] for size in sizes.values()))
    return [dict(zip(sizes, at, strict=True)) for at in every]


def test_every_format_of_the_library_is_here() -> None:
    assert {variant.format for variant in VARIANTS.values()} == set(format_names()) - {"dense"}


@each_variant
@pytest.mark.parametrize("sizes", MESHES, ids=str)
def test_the_ranks_merged_are_the_file(name: str, sizes: dict[str, int], model_of: ModelOf, tmp_path: Path) -> None:
    model, file = model_of(name), tensors(VARIANTS[name])
    directory = write_checkpoint(tmp_path / "checkpoint", config(VARIANTS[name]), file)
    loaded = []
    for mesh in ranks(sizes):
        model.kept(config(VARIANTS[name]), **mesh, headers=headers(file))
        shards = model.module.plan(config(VARIANTS[name]), mesh, model.module.rt.read_headers(directory))
        here = model.module.load(str(directory), mesh=mesh)
        own = {shard.name: shard for shard in shards if shard.values is not None}
        for value, shard in own.items():
            assert here.pop(value).tolist() == local_sizes(value, sizes["tp"]) == list(shard.values)
        loaded.append(Rank([shard for shard in shards if shard.name not in own], here))
    merged = merge(loaded)
    expected = {tensor: data for tensor, data in file.items() if not tensor.endswith(".weight_shape")}
    assert merged.keys() == expected.keys()
    assert [tensor for tensor in expected if not same_bytes(expected[tensor], merged[tensor])] == []
    assert [stray for rank in loaded for stray in strays(rank, merged)] == []


def local_sizes(name: str, tp: int) -> list[int]:
    """[out, in] of a weight on each rank."""
    weight = name.removesuffix(".weight_shape").rpartition(".")[2]
    out, inputs = SIZES[weight]
    return [out // tp, inputs] if weight == "up_proj" else [out, inputs // tp]


@each_variant
def test_from_memory_as_from_the_file(name: str, model_of: ModelOf, tmp_path: Path) -> None:
    model, file = model_of(name), tensors(VARIANTS[name])
    directory = write_checkpoint(tmp_path / "checkpoint", config(VARIANTS[name]), file)
    mesh = {"tp": (1, 2), "ep": (1, 2)}
    loaded = model.module.load(str(directory), mesh=mesh)
    given: dict[str, torch.Tensor] = model.module.shard_tensors(file, config(VARIANTS[name]), mesh=mesh)
    assert loaded.keys() == given.keys()
    assert all(same_bytes(loaded[tensor], given[tensor]) for tensor in loaded)


@each_variant
def test_from_a_config_alone(name: str, model_of: ModelOf) -> None:
    """Without headers two programs have one plan, with the config's sizes, or the format's own."""
    kept = model_of(name).kept(config(VARIANTS[name]), tp=(1, 2), ep=(1, 2))
    found = {tensor: (one.dtype, one.shape) for tensor, one in kept.items()}
    file = headers(tensors(VARIANTS[name]))
    assert found.keys() <= file.keys()
    if name != "awq, config wrong":
        assert {tensor: shape for tensor, (_, shape) in found.items()} == {
            tensor: () if file[tensor][1] == (1,) else file[tensor][1] for tensor in found
        }


@pytest.mark.parametrize("name", ["w4a16_ct", "w4a16_ct, act-order"])
def test_the_shape_that_a_rank_has_of_its_own(name: str, model_of: ModelOf) -> None:
    """Two programs, and the plan as data, say the local [out, in] and not the file's."""
    variant, found = VARIANTS[name], headers(tensors(VARIANTS[name]))
    plan: Any = as_json(compiled(text(variant), config(variant), {"tp": 4, "ep": 1}, found), [{"tp": 3, "ep": 0}])
    [rank] = plan["ranks"]
    said = {row["name"]: row["values"] for row in rank["tensors"] if "values" in row}
    module = model_of(name).module
    theirs = module.plan(config(variant), {"tp": (3, 4)}, {n: module.rt.Header(*h) for n, h in found.items()})
    assert said == {shard.name: list(shard.values) for shard in theirs if shard.values is not None}
    assert (said["up_proj.weight_shape"], said["experts.3.down_proj.weight_shape"]) == ([128, 256], [256, 128])
    assert len(said) == 10
