"""An output on one rank, in numbers: shape, pieces and zero fill."""

from __future__ import annotations

from shardc.plan.output_layout import OutputLayout, Piece
from shardc.plan.output_ranks import LocalOutput, outputs
from shardc.plan.row_moves import Rows
from tests.plan.support import spec
from tests.support import plan

SPEC = spec("""\
axes:
  heads: {size: 4}
  inter: {size: 3, pad_to: 4}
  experts: {size: 3, over: ep, if_uneven: ceil}
groups:
  attention:
    tensors:
      q.weight: {shape: [heads * 2, 16], shard: channel_rows, formats: [nvfp4]}
      k.weight: {shape: [heads * 2, 16], shard: channel_rows, formats: [nvfp4]}
      b: {shape: [heads * 2, 1], shard: channel_rows}
      a: {shape: [heads, 1], shard: head_rows}
    outputs:
      qk.weight: {concat: [q.weight, k.weight]}
      ba: {interleave: [b, a], by: heads}
  experts:
    at: experts.{expert}
    for: {expert: experts}
    tensors:
      down: {shape: [2, inter], shard: expert_slices + row_parallel, dtype: {file: F32, load: BF16}}
    outputs:
      w2: {concat: [down], stack: expert}
""")


def built(tp: int, ep: int, tp_size: int = 2, ep_size: int = 2) -> dict[str, LocalOutput]:
    made = plan(SPEC, {}, {"tp": tp_size, "ep": ep_size})
    return {one.name: one for one in outputs(made, {"tp": tp, "ep": ep})}


def layout(name: str, tp: int = 1, ep: int = 1) -> OutputLayout:
    return built(tp, ep)[name].layout


def test_all_of_them() -> None:
    assert {name: (one.layout.dtype, one.layout.shape) for name, one in built(1, 1).items()} == {
        "qk.weight": ("U8", (8, 8)),
        "qk.weight_scale": ("F8_E4M3", (8, 1)),
        "qk.weight_scale_2": ("F32", (2,)),
        "ba": ("BF16", (6, 1)),
        "experts.w2": ("BF16", (2, 2, 2)),
    }


def test_one_after_the_other() -> None:
    assert layout("qk.weight").pieces == (
        Piece(0, (Rows(4, 4), Rows(0, 8)), (Rows(0, 4), Rows(0, 8))),
        Piece(1, (Rows(4, 4), Rows(0, 8)), (Rows(4, 4), Rows(0, 8))),
    )


def test_scalars() -> None:
    assert layout("qk.weight_scale_2").pieces == (Piece(0, (), (Rows(0, 1),)), Piece(1, (), (Rows(1, 1),)))


def test_runs_of_rows() -> None:
    assert layout("ba").pieces == (
        Piece(0, (Rows(4, 2, 2, 2), Rows(0, 1)), (Rows(0, 2, 2, 3), Rows(0, 1))),
        Piece(1, (Rows(2, 1, 2, 1), Rows(0, 1)), (Rows(2, 1, 2, 3), Rows(0, 1))),
    )


def test_a_stack_with_padding_of_experts_and_columns() -> None:
    """Rank 1 of ep has expert 2 and room for another; rank 1 of tp has column 2 and room for another."""
    one = built(1, 1)["experts.w2"]
    assert one.members == (("experts.2.down",),)
    assert (one.layout.stacked, one.layout.dim, one.layout.slice_shape) == (1, 0, (2, 2))
    assert one.layout.pieces == (Piece(0, (Rows(0, 2), Rows(2, 1)), (Rows(0, 2), Rows(0, 1))),)
    assert one.layout.zeros == ((Rows(0, 2), Rows(1, 1)),)


def test_of_what_a_rank_has_nothing() -> None:
    assert "experts.w2" in built(0, 1, ep_size=3)
    assert "experts.w2" not in built(0, 3, ep_size=4)
