from collections.abc import Iterator, Mapping

import pytest
import torch

import shardc.runtime as rt
from shardc.runtime.rectangles import copy_rectangles

from .tiny_model import CONFIG, FORMATS, full_tensors, headers_of, mesh, tensors


def plan(rank_mesh: Mapping[str, rt.MeshDim], headers: Mapping[str, rt.Header] | None = None) -> dict[str, rt.Shard]:
    return {shard.name: shard for shard in rt.plan(tensors, FORMATS, CONFIG, rank_mesh, headers)}


def test_one_rank_alone_keeps_the_file() -> None:
    for format in ("dense", "block4", "packed"):
        headers = headers_of(full_tensors(format))
        shards = plan(mesh(), headers)
        assert shards.keys() == headers.keys()
        assert all(shard.layout.whole and shard.shape == headers[name].shape for name, shard in shards.items())


def test_local_shapes() -> None:
    shards = plan(mesh(tp=(3, 4), ep=(1, 2)), headers_of(full_tensors("block4")))
    assert {name: shard.local_shape for name, shard in shards.items()} == {
        "embed.weight": (3, 8),
        "qkv.weight": (6 + 3 + 3, 8),
        "o_proj.weight": (8, 6),
        "o_proj.bias": (8,),
        "A_log": (2,),
        "norm.weight": (8,),
        **{
            f"experts.{expert}.{name}": shape
            for expert in (2, 3)
            for name, shape in (
                ("up.weight", (4, 8)),
                ("up.weight_scale_inv", (1, 2)),
                ("down.weight", (8, 4)),
                ("down.weight_scale_inv", (2, 1)),
            )
        },
    }


def test_a_fused_tensor_is_three_copies() -> None:
    qkv = plan(mesh(tp=(3, 4)))["qkv.weight"]
    assert qkv.at[0] == ((18, 24, 0), (27, 30, 0), (33, 36, 0))
    assert len(copy_rectangles(qkv.at)) == 3


def test_the_format_in_the_file_sets_the_granule() -> None:
    assert plan(mesh(tp=(0, 8)), headers_of(full_tensors()))["experts.0.up.weight"].local_shape == (2, 8)
    with pytest.raises(rt.ShardError) as caught:
        plan(mesh(tp=(0, 8)), headers_of(full_tensors("block4")))
    text = "16 inter cannot be dealt to 8 tp ranks: 4 granules of 4, 0.5 (2 elements) each"
    assert caught.value.findings == (("SHD201", text),)


def test_without_headers_a_tied_tensor_is_the_one_it_is_tied_to() -> None:
    shards = plan(mesh())
    assert "lm_head.weight" not in shards
    assert shards["scale"].layout.optional
    assert {shard.format for shard in shards.values()} == {"dense"}
    assert {shard.dtype for shard in shards.values()} == {"BF16", "F32"}


def test_optional_and_tied_tensors_that_the_file_has() -> None:
    full = full_tensors() | {"scale": torch.tensor([1.0]), "lm_head.weight": torch.zeros(10, 8)}
    shards = plan(mesh(tp=(0, 2)), headers_of(full))
    assert shards["scale"].shape == (1,)
    assert shards["scale"].at == (((0, 1, 0),),)
    assert shards["lm_head.weight"].local_shape == (6, 8)


def test_everything_that_is_missing_is_found() -> None:
    headers = headers_of(full_tensors("block4"))
    for name in ("A_log", "embed.weight", "experts.3.up.weight_scale_inv"):
        del headers[name]
    headers["norm.weight"] = rt.Header("F16", (8,))
    with pytest.raises(rt.ShardError) as caught:
        plan(mesh(), headers)
    assert caught.value.findings == (
        ("SHD401", "embed.weight is missing"),
        ("SHD401", "A_log is missing"),
        ("SHD404", "norm.weight is F16; legal: BF16 (dense), F32 (dense)"),
        ("SHD401", "experts.3.up.weight_scale_inv is missing: experts.3.up.weight is F8_E4M3 (block4)"),
    )


def test_a_name_that_is_claimed_twice() -> None:
    def twice(config: rt.Config, mesh: Mapping[str, rt.MeshDim], *_: object) -> Iterator[rt.Tensor]:
        yield rt.Tensor("x.weight", rt.Family((8,), "replicated", ("F32",), formats=("packed",)))
        yield rt.Tensor("x.weight_scale_2", rt.Family((), "replicated", ("F32",)))

    with pytest.raises(rt.ShardError) as caught:
        rt.plan(twice, {"packed": rt.Format(FORMATS["packed"].parts[2:])}, {}, mesh())
    assert caught.value.findings == (("SHD105", "x.weight_scale_2 is claimed 2 times"),)


def test_a_contract_is_checked_on_the_mesh_that_is_asked_for() -> None:
    def small_kernel(config: rt.Config, mesh: Mapping[str, rt.MeshDim], *_: object) -> Iterator[rt.Tensor]:
        rows = rt.axis("rows", 8, mesh["tp"])
        rt.contract("small", "rows <= 4", rows.local <= 4, {"rows": rows.local}, mesh["tp"])
        yield rt.Tensor("x", rt.Family((8,), "column_parallel", ("F32",), at={0: ((rows.start, rows.stop),)}))

    assert rt.plan(small_kernel, {}, {}, mesh(tp=(1, 2)))[0].local_shape == (4,)
    with pytest.raises(rt.ShardError, match=r"^SHD301: small needs rows <= 4: rows = 8 on tp rank 0 of 1$"):
        rt.plan(small_kernel, {}, {}, mesh())


@pytest.mark.parametrize("format", ["dense", "block4", "packed"])
@pytest.mark.parametrize(("tp", "ep"), [(1, 1), (2, 1), (2, 2), (1, 4)])
def test_the_ranks_cover_every_tensor(format: str, tp: int, ep: int) -> None:
    full = full_tensors(format)
    counts = {name: torch.zeros(tensor.shape) for name, tensor in full.items()}
    for rank in range(tp * ep):
        for name, shard in plan(mesh(tp=(rank % tp, tp), ep=(rank // tp, ep)), headers_of(full)).items():
            for source, _ in copy_rectangles(shard.at):
                counts[name][tuple(slice(*bounds) for bounds in source)] += 1
    for count in counts.values():
        assert bool((count == count.flatten()[0]).all())
        assert count.flatten()[0] >= 1
