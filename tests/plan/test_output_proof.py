"""The proof of outputs passes those that are right, and fails each that is not."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from shardc.diagnostics import ShardcBug
from shardc.plan.output_layout import OutputLayout, Piece
from shardc.plan.output_proof import intervals, joined, prove_output
from shardc.plan.output_ranks import outputs
from shardc.plan.proof import prove
from shardc.plan.row_moves import Rows
from tests.plan.support import spec
from tests.support import plan

SPEC = spec("""\
axes: {heads: {size: 4}}
groups:
  g:
    tensors:
      b: {shape: [heads * 2, 1], shard: channel_rows}
      a: {shape: [heads, 1], shard: head_rows}
    outputs:
      ba: {interleave: [b, a], by: heads}
""")
KEPT = [[(4, 8)], [(2, 4)]]


def layout(*pieces: Piece) -> OutputLayout:
    """The output on rank 1 of 2, with other pieces where some are given."""
    [one] = outputs(plan(SPEC, {}, {"tp": 2}), {"tp": 1})
    return replace(one.layout, pieces=pieces) if pieces else one.layout


def piece(member: int, source: Rows, to: Rows) -> Piece:
    return Piece(member, (source, Rows(0, 1)), (to, Rows(0, 1)))


RIGHT = (piece(0, Rows(4, 2, 2, 2), Rows(0, 2, 2, 3)), piece(1, Rows(2, 1, 2, 1), Rows(2, 1, 2, 3)))


def test_what_is_right() -> None:
    assert layout().pieces == RIGHT
    prove_output(layout(), KEPT)
    prove(plan(SPEC, {}, {"tp": 2}))


@pytest.mark.parametrize(
    ("pieces", "message"),
    [
        (RIGHT[:1], "SHD901 law 2: ba: 4 elements written of (6, 1)"),
        ((RIGHT[0], piece(1, Rows(2, 1, 2, 1), Rows(1, 1, 2, 3))), "SHD901 law 2: ba: row 1 twice"),
        ((RIGHT[0], piece(1, Rows(2, 2), Rows(4, 2))), "SHD901 law 2: ba: rows [(0, 2)] of every 3 from 0"),
        ((piece(0, Rows(4, 4), Rows(1, 4)), piece(1, Rows(2, 2), Rows(5, 2))), "SHD901 law 2: ba: rows [(1, 7)] are written of (6, 1)"),
        ((piece(0, Rows(4, 4), Rows(0, 4)), piece(1, Rows(3, 2), Rows(4, 2))), "SHD901 law 1: ba: rows [(3, 5)] of member 1, not [(2, 4)]"),
        ((piece(0, Rows(4, 4), Rows(0, 4)), piece(1, Rows(2, 1), Rows(4, 1)), piece(1, Rows(2, 1), Rows(5, 1))),
         "SHD901 law 1: ba: rows [(2, 3)] of member 1, not [(2, 4)]"),
    ],
)  # fmt: skip
def test_what_is_wrong(pieces: tuple[Piece, ...], message: str) -> None:
    with pytest.raises(ShardcBug) as failed:
        prove_output(layout(*pieces), KEPT)
    assert str(failed.value) == message


def test_intervals() -> None:
    assert intervals([Rows(6, 2), Rows(0, 1, 2, 3), Rows(1, 2, 2, 3)], "x") == [(0, 8)]
    assert intervals([Rows(0, 1, 2, 2), Rows(1, 1, 2, 2), Rows(10, 1, 2, 2), Rows(11, 1, 2, 2)], "x") == [
        (0, 4),
        (10, 14),
    ]
    assert joined([(4, 6), (0, 2), (2, 3)], "x") == [(0, 3), (4, 6)]
