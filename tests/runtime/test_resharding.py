from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import torch

import shardc.runtime as rt

from . import test_placing
from .conftest import CopyCounter
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


# Regions that rank 0 of 2 keeps of a few tensors, and so copies; a tensor that is kept whole is not copied.
REGIONS = {"embed.weight": 1, "qkv.weight": 3, "o_proj.weight": 1, "o_proj.bias": 0, "A_log": 1, "norm.weight": 1}


@pytest.mark.parametrize("name", REGIONS)
def test_one_copy_a_region_and_no_other_device(copy_counter: CopyCounter, name: str) -> None:
    """A device without memory stands for any but the host: what touches the host would be seen."""
    full = {name: full_tensors()[name].to("meta")}
    with copy_counter:
        rt.shard_tensors(SPEC, full, CONFIG, mesh(tp=(0, 2)))
    assert (copy_counter.copies, copy_counter.others) == (REGIONS[name], [])
    assert copy_counter.devices <= {"meta"}


@pytest.mark.parametrize("rank", [0, 1])
def test_the_copies_of_a_checkpoint(copy_counter: CopyCounter, rank: int) -> None:
    full = {name: tensor.to("meta") for name, tensor in full_tensors().items()}
    with copy_counter:
        rt.shard_tensors(SPEC, full, CONFIG, mesh(tp=(rank, 2), ep=(1, 2)))
    assert (copy_counter.copies, copy_counter.others) == (sum(REGIONS.values()) + 4, [])
    assert copy_counter.devices == {"meta"}


@pytest.mark.parametrize("form", ["concat", "interleave", "permute"])
def test_outputs_are_one_copy_a_member(copy_counter: CopyCounter, form: str) -> None:
    """Two members of an output and two of a stack; rows that are interleaved or change places are a copy all the same."""
    full = {name: tensor.to("meta") for name, tensor in test_placing.FULL.items()}
    with copy_counter:
        parts = rt.shard_tensors(test_placing.spec(form), full, {}, test_placing.TP)
    assert list(parts) == ["ab", "c", "e"]
    assert (copy_counter.copies, copy_counter.others) == (4, [])
    assert copy_counter.devices == {"meta"}


def test_sizes_that_a_rank_has_of_its_own_are_all_that_the_host_gives(copy_counter: CopyCounter) -> None:
    part = rt.Part("{stem}.shape", ("I64",), (rt.Dim(None, entries=2),), values=("out", "in"))
    packed = rt.Format((rt.Part("{stem}.packed", ("I32",), (rt.Dim("out"), rt.Dim("in"))), part))

    def tensors(config: object, mesh: Mapping[str, rt.MeshDim], *_: object) -> Iterator[rt.Tensor]:
        rows = rt.axis("rows", 8, mesh["tp"])
        at = {0: ((rows.start, rows.stop),)}
        yield rt.Tensor("w.weight", rt.Family((8, 4), "column_parallel", ("F32",), at=at, formats=("packed",)))

    spec = rt.Spec(tensors, {"packed": packed}, (), ("tp",), ("F32",))
    full = {"w.packed": torch.ones(8, 4, dtype=torch.int32, device="meta"), "w.shape": torch.ones(2, dtype=torch.int64)}
    with copy_counter:
        kept = rt.shard_tensors(spec, full, {}, rt.mesh(("tp",), 1, 2))
    assert (kept["w.packed"].device.type, kept["w.packed"].shape) == ("meta", (4, 4))
    assert kept["w.shape"].tolist() == [4, 4]
    assert copy_counter.copies == 2


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("form", ["concat", "interleave", "permute"])
def test_one_kernel_a_region_on_a_device(form: str) -> None:
    """The profiler sees a kernel for each of the four members, and nothing that goes to the host or comes from it."""
    full = {name: tensor.cuda() for name, tensor in test_placing.FULL.items()}
    expected = rt.shard_tensors(test_placing.spec(form), test_placing.FULL, {}, test_placing.TP)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        parts = rt.shard_tensors(test_placing.spec(form), full, {}, test_placing.TP)
        torch.cuda.synchronize()
    work = [event.name for event in profile.events() if event.device_type == torch.autograd.DeviceType.CUDA]
    assert len(work) == 4 and not any("HtoD" in name or "DtoH" in name for name in work)
    assert all(torch.equal(parts[name].cpu(), tensor) for name, tensor in expected.items())
