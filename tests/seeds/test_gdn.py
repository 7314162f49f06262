"""Gated delta net: segments are cut one by one, and packed in their order."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from shardc.runtime import pieces
from tests.seeds.model import SMALL_GDN as SMALL
from tests.seeds.model import Model, joined, numbered, write_checkpoint

HOLO = {
    "hidden_size": 1024,
    "num_key_heads": 16,
    "key_dim": 128,
    "num_value_heads": 16,
    "value_dim": 128,
    "conv_kernel": 4,
}
TWO_SEGMENTS = """
spec: 1
name: two_segments
architectures: [TwoSegments]
dtype: BF16
axes: {heads: {size: 32}, rest: {size: 33}}
groups: {all: {tensors: {fused.weight: {shape: [heads | rest, 64], shard: segmented_rows}}}}
"""


def test_qkvz_is_four_ranges_and_no_flat_half(gdn: Model) -> None:
    qkvz = gdn.kept(SMALL, (1, 2))["in_proj_qkvz.weight"]
    assert qkvz.shape == (320, 64)
    assert pieces(qkvz.at[0]) == [(16, 32, 0), (48, 64, 16), (128, 192, 32), (256, 320, 96)]
    assert qkvz.local_shape == (160, 64)


def test_the_convolution_has_the_segments_of_qkv(gdn: Model) -> None:
    kept = gdn.kept(SMALL, (1, 2))
    assert kept["in_proj_qkv.weight"].spans == [[(16, 32), (48, 64), (128, 192)], [(0, 64)]]
    assert kept["conv1d.weight"].spans == [[(16, 32), (48, 64), (128, 192)], [(0, 4)]]


def test_what_is_grouped_by_key_head_is_one_range(gdn: Model) -> None:
    assert gdn.kept(SMALL, (1, 2))["in_proj_ba.weight"].spans == [[(8, 16)], [(0, 64)]]


def test_what_has_value_heads(gdn: Model) -> None:
    kept = gdn.kept(SMALL, (1, 2))
    assert kept["A_log"].spans == [[(4, 8)]]
    assert kept["dt_bias"].spans == [[(4, 8)]]
    assert kept["norm.weight"].spans == [[(0, 16)]]
    assert kept["in_proj_z.weight"].spans == [[(64, 128)], [(0, 64)]]
    assert kept["out_proj.weight"].spans == [[(0, 64)], [(64, 128)]]


def test_a_published_size(gdn: Model) -> None:
    kept = gdn.kept(HOLO, (1, 2))
    qkvz = kept["in_proj_qkvz.weight"]
    assert qkvz.spans[0] == [(1024, 2048), (3072, 4096), (5120, 6144), (7168, 8192)]
    assert (qkvz.full_bytes, qkvz.local_bytes) == (16_777_216, 8_388_608)
    assert kept["conv1d.weight"].spans[0] == [(1024, 2048), (3072, 4096), (5120, 6144)]
    assert kept["in_proj_ba.weight"].spans[0] == [(16, 32)]
    assert kept["out_proj.weight"].spans == [[(0, 1024)], [(1024, 2048)]]


def test_a_segment_that_does_not_divide(tmp_path: Path) -> None:
    two_segments = Model(TWO_SEGMENTS, tmp_path)
    assert two_segments.refusal({}, {"tp": 2}) == "SHD201: 33 rest cannot be dealt to 2 tp ranks: 16.5 each"


def test_eight_ranks_do_not_divide_four_key_heads(gdn: Model) -> None:
    assert gdn.refusal(SMALL, {"tp": 8}) == "SHD201: 4 k_heads cannot be dealt to 8 tp ranks: 0.5 each"


@pytest.mark.parametrize("tp", [1, 2, 4])
def test_all_ranks_together_have_the_file(gdn: Model, tp: int, tmp_path: Path) -> None:
    full = {name: numbered(one.shape, torch.float32) for name, one in gdn.kept(SMALL).items()}
    full = {name: one if name in ("A_log", "dt_bias") else one.bfloat16() for name, one in full.items()}
    directory = write_checkpoint(tmp_path / "small", SMALL, full)
    kept = [gdn.kept(SMALL, (rank, tp)) for rank in range(tp)]
    loaded = [gdn.module.load(directory, tp_rank=rank, tp_size=tp) for rank in range(tp)]
    for name, one in full.items():
        assert torch.equal(joined([rank[name] for rank in kept], [rank[name] for rank in loaded]), one), name
