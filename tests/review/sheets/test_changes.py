"""Every change of a layout changes the sheet, and nothing else does."""

from __future__ import annotations

import pytest

from tests.plan.support import spec
from tests.review.sheets.support import changed, sheet_of

SMALL = """\
axes:
  kv_heads: {size: 2, if_fewer: replicate}
  heads: {size: 4, within: kv_heads}
  inter: {size: 8}
  experts: {size: 4, over: ep}
groups:
  layer:
    tensors:
      q.weight: {shape: [heads * 8, 32], shard: channel_rows}
      kv.weight: {shape: [kv_heads * 8, 32], shard: channel_rows}
      gate_up.weight: {shape: [inter | inter, 32], shard: segmented_rows}
      norm.weight: {shape: [32], shard: replicated}
      o.bias: {shape: [32], shard: replicated}
  experts:
    at: experts.{expert}
    for: {expert: experts}
    tensors: {up.weight: {shape: [4, 32], shard: expert_slices}}
targets:
  - {checkpoint: example, tp: [1, 2, 4], ep: [1, 2]}
"""


def edited(*edits: tuple[str, str]) -> tuple[list[str], list[str]]:
    """What goes from the sheet and what comes, columns one blank apart."""
    text = SMALL
    for old, new in edits:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return changed(sheet_of(spec(SMALL)), sheet_of(spec(text)))


def test_swapped_factors_have_one_shape_and_other_rows() -> None:
    went, came = edited(("[heads * 8, 32], shard: channel_rows", "[8 * heads, 32], shard: channel_rows"))
    row = "q.weight BF16 32 x 32 {}16 x 32 {}8 x 32 SHD204 SHD204 SHD204 SHD204 channel_rows"
    assert went == [row.format("", "")]
    assert came == [
        row.format("* ", "* "),
        "q.weight, dim 0 tp=2 2r..+2 x8 every 4",
        "q.weight, dim 0 tp=4 r..+1 x8 every 4",
    ]


def test_a_flat_cut_and_a_cut_by_segment_have_one_shape_and_other_rows() -> None:
    went, came = edited(("[inter | inter, 32], shard: segmented_rows", "[inter * 2, 32], shard: column_parallel"))
    row = "gate_up.weight BF16 16 x 32 {0}8 x 32 {0}4 x 32 {0}2 x 32 SHD201 SHD201 SHD201 {1}"
    assert went == [
        row.format("* ", "segmented_rows"),
        "gate_up.weight, dim 0 tp=2 4r..+4, 8+4r..+4",
        "gate_up.weight, dim 0 tp=4 2r..+2, 8+2r..+2",
        "gate_up.weight, dim 0 tp=8 r..+1, 8+r..+1",
    ]
    assert came == [row.format("", "column_parallel")]


def test_replicas_dealt_in_another_order_have_one_shape_and_other_rows() -> None:
    went, came = edited(("if_fewer: replicate", "if_fewer: replicate, replicas: cyclic"))
    line = "kv.weight, dim 0 tp={} 8({})..+8"
    assert came[-5:] == [line.format(n, "r%2") for n in (4, 8, 16, 32, 64)]
    assert went[-5:] == [line.format(n, f"r//{n // 2}") for n in (4, 8, 16, 32, 64)]


def test_experts_dealt_in_turn() -> None:
    assert edited(("over: ep}", "over: ep, placement: round_robin}")) == (
        ["experts ep=2 2r..+2"],
        ["experts ep=2 r..+1, 2+r..+1"],
    )


def test_a_tensor_that_rank_0_alone_has() -> None:
    """`rank0` and `replicated` have the same shape on rank 0."""
    _, came = edited(("o.bias: {shape: [32], shard: replicated}", "o.bias: {shape: [32], shard: rank0}"))
    assert came[0] == "o.bias BF16 32 * 32 * 32 * 32 * 32 * 32 * 32 rank0"
    assert came[3:5] == ["o.bias, dim 0 tp=2 r=0: 0..32; r=1: 32 zero", "o.bias, dim 0 tp=4 r=0: 0..32; r=1-3: 32 zero"]


def test_a_dtype_that_is_loaded_as_another() -> None:
    _, came = edited(("norm.weight: {shape: [32]", "norm.weight: {dtype: {file: F32, load: BF16}, shape: [32]"))
    assert came == ["norm.weight F32 to BF16 32 32 32 32 32 32 32 replicated"]


def test_a_claim_more() -> None:
    went, came = edited(("tp: [1, 2, 4]", "tp: [1, 2]"))
    assert went[0] == "# claimed: tp 1, 2, 4; ep 1, 2" and came[0] == "# claimed: tp 1, 2; ep 1, 2"
    assert " tp=4 (tp=8) " in went[1] and " (tp=4) (tp=8) " in came[1]


@pytest.mark.parametrize(
    "edits",
    [
        [("tensors:\n      q.weight: {shape: [heads * 8", "let: {channels: heads * 8}\n    tensors:\n      q.weight: {shape: [channels")],
        [("shape: [4, 32]", "shape: [2 * 2, 16 + 16]")],
        [("axes:\n", "# What is dealt.\naxes:\n")],
    ],
    ids=["a let", "other numbers", "a comment"],
)  # fmt: skip
def test_a_spec_that_means_the_same_has_the_same_sheet(edits: list[tuple[str, str]]) -> None:
    assert edited(*edits) == ([], [])


def test_a_line_changes_alone() -> None:
    """A shape that grows by a digit leaves the columns where they are; only sums of bytes change with it."""
    before = sheet_of(spec(SMALL)).splitlines()
    after = sheet_of(spec(SMALL.replace("norm.weight: {shape: [32]", "norm.weight: {shape: [321]"))).splitlines()
    different = [old.split()[0] for old, new in zip(before, after, strict=True) if old != new]
    assert different == ["norm.weight", "per", "replicated", "per"]


def test_a_path_of_this_machine_is_not_in_it() -> None:
    assert sheet_of(spec(SMALL), file="/home/me/specs/spec.yaml") == sheet_of(spec(SMALL))
