"""Cutting tensors that lie on a device: how many copies it takes, and what stays as it was."""

from __future__ import annotations

import pytest
import torch

from shardc.runtime.dtypes import TORCH_DTYPES
from tests.runtime.conftest import CopyCounter
from tests.seeds.model import SMALL_GDN as SMALL
from tests.seeds.model import Model, numbered

DEVICES = [
    "cpu",
    pytest.param(
        "cuda", marks=[pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")]
    ),
]
# Copies that a rank of two makes of each tensor: one a segment.
COPIES = {
    "in_proj_qkvz.weight": 4,
    "in_proj_qkv.weight": 3,
    "conv1d.weight": 3,
    "in_proj_ba.weight": 1,
    "out_proj.weight": 1,
}


def on(device: str, gdn: Model) -> dict[str, torch.Tensor]:
    return {name: numbered(one.shape, TORCH_DTYPES[one.dtype]).to(device) for name, one in gdn.kept(SMALL).items()}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("name", "copies"), COPIES.items())
def test_one_copy_a_segment(gdn: Model, device: str, name: str, copies: int) -> None:
    full = {name: on(device, gdn)[name]}
    for rank in (0, 1):
        with CopyCounter() as counter:
            local = gdn.shard(full, SMALL, (rank, 2))[name]
        assert (counter.copies, counter.others) == (copies, [])
        assert local.device.type == device


@pytest.mark.parametrize("device", DEVICES)
def test_sources_stay_as_they_are(gdn: Model, device: str) -> None:
    full = on(device, gdn)
    before = {name: one.clone() for name, one in full.items()}
    for local in gdn.shard(full, SMALL, (1, 2)).values():
        if local.shape != (16,):  # norm.weight, which every rank keeps whole
            local.zero_()
    assert all(torch.equal(full[name], one) for name, one in before.items())


@pytest.mark.parametrize("device", DEVICES)
def test_parts_own_their_storage(gdn: Model, device: str) -> None:
    full = on(device, gdn)
    for name, local in gdn.shard(full, SMALL, (1, 2)).items():
        assert local.is_contiguous()
        if name == "norm.weight":
            assert local is full[name]
        else:
            assert local.untyped_storage().data_ptr() != full[name].untyped_storage().data_ptr()
            assert local.untyped_storage().nbytes() == local.nbytes


@pytest.mark.parametrize("device", DEVICES)
def test_one_rank_alone_is_given_the_very_tensors(gdn: Model, device: str) -> None:
    full = on(device, gdn)
    with CopyCounter() as counter:
        whole = gdn.shard(full, SMALL, (0, 1))
    assert counter.copies == 0
    assert whole.keys() == full.keys()
    assert all(whole[name] is one for name, one in full.items())


@pytest.mark.parametrize("device", DEVICES)
def test_the_second_half_of_each_segment(gdn: Model, device: str) -> None:
    full = on(device, gdn)
    local = gdn.shard(full, SMALL, (1, 2))
    qkvz = full["in_proj_qkvz.weight"]
    assert torch.equal(
        local["in_proj_qkvz.weight"], torch.cat([qkvz[16:32], qkvz[48:64], qkvz[128:192], qkvz[256:320]])
    )
    assert torch.equal(local["out_proj.weight"], full["out_proj.weight"][:, 64:])
    assert local["A_log"].tolist() == [4, 5, 6, 7]
