from pathlib import Path

import pytest
import torch

import shardc.runtime as rt

from .tiny_model import CONFIG, SPEC, equal, full_tensors, mesh, write_checkpoint


@pytest.mark.parametrize("format", ["dense", "block4", "packed"])
@pytest.mark.parametrize("rank", [0, 1])
def test_the_same_as_loading_a_file(tmp_path: Path, format: str, rank: int) -> None:
    full = full_tensors(format)
    rank_mesh = mesh(tp=(rank, 2), ep=(rank, 2))
    parts = rt.shard_tensors(SPEC, full, CONFIG, rank_mesh)
    loaded = rt.load(SPEC, write_checkpoint(tmp_path, full), rank_mesh)
    del loaded["lm_head.weight"]
    assert parts.keys() == loaded.keys()
    assert all(equal(parts[name], loaded[name]) for name in parts)


def test_whole_tensors_are_the_objects_given() -> None:
    full = full_tensors()
    parts = rt.shard_tensors(SPEC, full, CONFIG, mesh())
    assert all(parts[name] is full[name] for name in full if name != "norm.weight")
    assert parts["norm.weight"].dtype == torch.float32


def test_parts_have_storage_of_their_own_and_sources_stay() -> None:
    full = full_tensors()
    before = {name: tensor.clone() for name, tensor in full.items()}
    for tensor in rt.shard_tensors(SPEC, full, CONFIG, mesh(tp=(1, 2))).values():
        tensor.zero_()
    assert all(torch.equal(full[name], tensor) for name, tensor in before.items())


def test_a_few_tensors_of_a_checkpoint() -> None:
    parts = rt.shard_tensors(SPEC, {"A_log": torch.arange(8.0), "visual.x": torch.ones(1)}, CONFIG, mesh(tp=(3, 4)))
    assert {name: tensor.tolist() for name, tensor in parts.items()} == {"A_log": [6.0, 7.0]}


def test_experts_of_other_ranks_are_left_out() -> None:
    full = {name: tensor for name, tensor in full_tensors().items() if ".up." in name}
    assert list(rt.shard_tensors(SPEC, full, CONFIG, mesh(ep=(1, 4)))) == ["experts.1.up.weight"]


@pytest.mark.usefixtures("no_allocation")
def test_all_faults_before_any_allocation() -> None:
    full = full_tensors("block4")
    given = {
        "A_log": torch.ones(9),
        "o_proj.weight": torch.ones(8, 24, dtype=torch.complex64),
        "q_proj.weight": torch.ones(8, 8),
        "experts.0.up.weight": full["experts.0.up.weight"],
        "experts.1.up.weight_scale_inv": full["experts.1.up.weight_scale_inv"],
        "norm.weight": full["norm.weight"],
    }
    with pytest.raises(rt.ShardError) as caught:
        rt.shard_tensors(SPEC, given, CONFIG, mesh(tp=(0, 2)))
    assert caught.value.findings == (
        ("SHD404", "o_proj.weight is torch.complex64; legal: BF16 (dense), F32 (dense)"),
        ("SHD401", "experts.0.up.weight_scale_inv is missing: experts.0.up.weight is F8_E4M3 (block4)"),
        ("SHD401", "experts.1.up.weight is missing"),
        ("SHD403", "A_log: shape [9] in the file, [8] by the spec"),
        ("SHD402", "q_proj.weight is unexpected: no entry of the spec claims it"),
    )


def test_on_the_device_of_the_source() -> None:
    full = {"qkv.weight": torch.empty(36, 8, device="meta")}
    part = rt.shard_tensors(SPEC, full, CONFIG, mesh(tp=(0, 2)))["qkv.weight"]
    assert (part.device.type, part.shape) == ("meta", (18, 8))
