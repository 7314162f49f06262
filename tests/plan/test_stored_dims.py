"""The dims of stored tensors: which weight dim each follows, in which units."""

from __future__ import annotations

import pytest

from shardc.layout.units import CutError
from shardc.plan.family import Family
from shardc.plan.stored_dims import grouped, segments, stored_dims
from tests.plan.support import spec
from tests.support import bound


def family(shape: str, format: str, kind: str = "replicated") -> Family:
    text = spec(f"""\
    axes:
      inter: {{size: 192}}
      experts: {{size: 4, over: ep}}
    groups:
      all: {{tensors: {{up.weight: {{shape: {shape}, shard: {kind}, formats: [{format}]}}}}}}
    """)
    [one] = bound(text, {}).families
    return one


def dims(one: Family) -> list[list[tuple[int | None, int, int]]]:
    """For each stored tensor, for each of its dims: the weight's dim, the unit (0: none), the full size."""
    return [
        [(dim.dim, dim.ratio[0] if dim.unit else 0, dim.size) for dim in stored_dims(one, part)]
        for part in one.stored.parts
    ]


def test_dense_dims_are_the_weights() -> None:
    assert dims(family("[inter, 64]", "dense")) == [[(0, 0, 192), (1, 0, 64)]]
    assert dims(family("[]", "dense")) == [[]]


def test_blocks_are_rounded_up() -> None:
    assert dims(family("[inter, 64]", "fp8_block")) == [[(0, 1, 192), (1, 1, 64)], [(0, 128, 2), (1, 128, 1)]]


def test_blocks_are_rounded_up_in_each_segment() -> None:
    one = family("[inter | 100 | 128, 256]", "fp8_block")
    assert segments(one, 0) == (192, 100, 128)
    assert segments(one, 1) == (256,)
    assert dims(one)[1] == [(0, 128, 4), (1, 128, 2)]


def test_packed_values_and_groups_and_scalars() -> None:
    assert dims(family("[inter, 64]", "nvfp4")) == [[(0, 1, 192), (1, 2, 32)], [(0, 1, 192), (1, 16, 4)], []]


def test_a_leading_dim_of_experts_stays() -> None:
    one = family("[experts, inter, 64]", "nvfp4", "expert_slices + column_parallel")
    assert dims(one) == [
        [(0, 0, 4), (1, 1, 192), (2, 2, 32)],
        [(0, 0, 4), (1, 1, 192), (2, 16, 4)],
        [],
    ]


def test_blocks_have_bytes_that_follow_no_dim() -> None:
    one = family("[experts, inter, 64]", "mxfp4", "expert_slices + column_parallel")
    blocks = one.stored.parts[0]
    assert dims(one) == [
        [(0, 0, 4), (1, 1, 192), (2, 32, 2), (None, 1, 16)],
        [(0, 0, 4), (1, 1, 192), (2, 32, 2)],
    ]
    assert [dim.over for dim in stored_dims(one, blocks)] == [("ep",), ("tp",), (), ()]


def test_three_words_for_32_values() -> None:
    text = spec("""\
    axes: {inter: {size: 192}}
    groups:
      all: {tensors: {down.weight: {shape: [64, inter], shard: row_parallel, formats: [gptq]}}}
    """)
    [one] = bound(text, {"quantization_config": {"bits": 3, "group_size": 64, "desc_act": True}}).families
    qweight, qzeros, scales = (stored_dims(one, part) for part in one.stored.parts)
    assert [(dim.ratio, dim.size, dim.over) for dim in qweight] == [((32, 3), 18, ("tp",)), ((1, 1), 64, ())]
    # All groups of the input on every rank.
    assert [(dim.ratio, dim.size, dim.over) for dim in scales] == [((64, 1), 3, ()), ((1, 1), 64, ())]
    assert [(dim.ratio, dim.size) for dim in qzeros] == [((64, 1), 3), ((32, 3), 6)]


def test_units_that_do_not_come_out_whole() -> None:
    one = family("[inter, 40]", "nvfp4")
    scale = stored_dims(one, one.stored.parts[1])[1]
    with pytest.raises(CutError, match="40 is not a multiple of 16") as caught:
        _ = scale.size
    assert caught.value.code == "SHD213"


def test_dims_that_are_cut_alike_are_grouped() -> None:
    text = spec("""\
    config: {hidden: hidden}
    axes:
      inter: {size: 256}
    groups:
      all:
        tensors:
          gate.weight: {shape: [inter, hidden], shard: column_parallel}
          up.weight: {shape: [inter, hidden], shard: column_parallel, formats: [fp8_block]}
          down.weight: {shape: [hidden, inter], shard: row_parallel}
          down.bias: {shape: [hidden], shard: rank0}
    """)
    groups = [[(d.part.names[0], d.i) for d in group] for group in grouped(bound(text, {"hidden": 128}).families)]
    assert groups == [
        [("gate.weight", 0), ("down.weight", 1)],
        [("gate.weight", 1), ("down.weight", 0)],
        # Elements of an FP8 weight are units of 1.
        [("up.weight", 0)],
        [("up.weight", 1)],
        [("up.weight_scale_inv", 0)],
        [("up.weight_scale_inv", 1)],
        # Whole on rank 0 alone.
        [("down.bias", 0)],
    ]
