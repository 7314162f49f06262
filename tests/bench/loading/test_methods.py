"""Ours and safetensors' slices, of a tiny workload, against the plain reference."""

from __future__ import annotations

import math

import pytest
import torch
from safetensors import safe_open

from bench.loading.catalogue import TINY_WORKLOAD, WORKLOADS
from bench.loading.methods import Job
from bench.loading.reference import differences
from bench.loading.registry import METHODS
from bench.loading.writing import checkpoint_of

LOCAL = ("shardc", "load_file + narrow", "load-narrow-copy", "get_slice", "get_slice (pread)", "mmap views")


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    return Job(TINY_WORKLOAD, checkpoint_of(TINY_WORKLOAD, tmp_path_factory.mktemp("scratch")), tp=2)


@pytest.mark.parametrize("name", LOCAL)
def test_a_method_loads_what_a_rank_should_hold(job: Job, name: str) -> None:
    loaded = {rank: METHODS[name].load(job, rank) for rank in range(2)}
    assert differences(job, loaded) == []
    assert {rank: sum(map(bytes_of, tensors.values())) for rank, tensors in loaded.items()} == {0: 691108, 1: 691108}


def test_all_ranks_are_loaded_in_one_pass(job: Job) -> None:
    method = METHODS["shardc load_ranks"]
    method.prepare(job, [0, 1])
    assert differences(job, dict(enumerate(method.load_all(job, [0, 1])))) == []


def test_the_reference_tells_what_differs(job: Job) -> None:
    loaded = METHODS["get_slice"].load(job, 0)
    assert "rank 1: lm_head.weight differs" in differences(job, {1: loaded})
    loaded["more"] = loaded.pop("model.norm.weight")
    loaded["lm_head.weight"].view(torch.uint8)[3, 5] += 1
    assert differences(job, {0: loaded}) == [
        "rank 0: more is not in the checkpoint",
        "rank 0: model.norm.weight is missing",
        "rank 0: lm_head.weight differs",
    ]


def test_the_reference_tells_what_is_a_view_of_the_file(job: Job) -> None:
    loaded = METHODS["get_slice"].load(job, 0)
    with safe_open(job.files[-1], framework="pt") as file:
        loaded["model.norm.weight"] = file.get_tensor("model.norm.weight")
    assert differences(job, {0: loaded}) == ["rank 0: model.norm.weight is a view of the file"]


def test_limits_read_and_copy(job: Job) -> None:
    for name in ("limit: memcpy", "limit: read"):
        METHODS[name].prepare(job, [1])
        assert METHODS[name].load_all(job, [1]) == []


def test_a_checkpoint_is_written_once(job: Job) -> None:
    before = job.files[0].stat().st_mtime_ns
    assert checkpoint_of(TINY_WORKLOAD, job.folder.parent) == job.folder
    assert job.files[0].stat().st_mtime_ns == before
    assert [path.name for path in job.files] == [
        "model-00001-of-00002.safetensors",
        "model-00002-of-00002.safetensors",
    ]


@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=lambda workload: workload.name)
def test_every_workload_can_be_cut_at_tp_8(workload: object) -> None:
    assert all(tensor.dim is None or tensor.shape[tensor.dim] % 8 == 0 for tensor in workload.tensors)


def test_how_large_workloads_are() -> None:
    assert {name: (len(one.tensors), round(one.bytes / 2**30, 2)) for name, one in WORKLOADS.items()} == {
        "llama": (84, 4.14),
        "moe": (1611, 3.43),
        "fp8": (1263, 1.47),
        "nvfp4": (7934, 1.56),
    }


def bytes_of(tensor: torch.Tensor) -> int:
    return math.prod(tensor.shape) * tensor.element_size()
