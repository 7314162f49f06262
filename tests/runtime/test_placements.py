"""Each layout that DTensor can express, and each reason why it cannot; in literal rows."""

import pytest
from torch.distributed.tensor import Partial, Placement, Replicate, Shard

from shardc.runtime.compositions import Composition
from shardc.runtime.placements import placements_of
from shardc.runtime.row_runs import RowRuns


def rows(*spans: tuple[int, int], zero: int = 0) -> RowRuns:
    return (*(("", start, stop) for start, stop in spans), *(((None, 0, zero),) if zero else ()))


ROWS = rows((0, 8))
COLS = rows((0, 4))
FULL = (ROWS, COLS)


@pytest.mark.parametrize(
    ("line", "placement"),
    [
        ([FULL, FULL], Replicate()),
        ([(rows((0, 4)), COLS), (rows((4, 8)), COLS)], Shard(0)),
        ([(ROWS, rows((0, 2))), (ROWS, rows((2, 4)))], Shard(1)),
        ([(rows((0, 3)), COLS), (rows((3, 6)), COLS), (rows((6, 8)), COLS)], Shard(0)),
        ([(rows((at, at + 1)), COLS) for at in range(8)] + [((), COLS)] * 2, Shard(0)),
        ([FULL, (rows(zero=8), COLS), (rows(zero=8), COLS)], Partial("sum")),
    ],
)
def test_a_placement(line: list[Composition], placement: Placement) -> None:
    for own in line:
        assert placements_of(FULL, own, {"tp": line}, ["tp"]) == {"tp": placement}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            [(rows((0, 4)), COLS), (rows((0, 4)), COLS), (rows((4, 8)), COLS), (rows((4, 8)), COLS)],
            "shared by ranks: tp rank 0 has 0..4 of dim 0, where Shard(0) would give it 0..2",
        ),
        (
            [(rows((0, 2), (4, 6)), COLS), (rows((2, 4), (6, 8)), COLS)],
            "in pieces: tp rank 0 has 0..2 and 4..6 of dim 0, where Shard(0) would give it 0..4",
        ),
        (
            [(rows((4, 8)), COLS), (rows((0, 4)), COLS)],
            "cut unevenly: tp rank 0 has 4..8 of dim 0, where Shard(0) would give it 0..4",
        ),
        (
            [(rows((0, 3)), COLS), (rows((3, 6)), COLS), (rows((6, 8), zero=1), COLS)],
            "padded: tp rank 2 has 6..8 and 1 of zero of dim 0, where Shard(0) would give it 6..8",
        ),
        (
            [(rows((0, 4)), rows((0, 2))), (rows((4, 8)), rows((2, 4)))],
            "dims 0 and 1 are cut over tp together",
        ),
        (
            [(rows(zero=8), COLS), FULL],
            "padded: tp rank 0 has 8 of zero of dim 0, where Shard(0) would give it 0..4",
        ),
        (
            [(rows((0, 8), zero=2), COLS)] * 2,
            "dim 0 is 0..8 and 2 of zero on each of these ranks, and 0..8 in the full tensor",
        ),
    ],
)
def test_a_reason(line: list[Composition], reason: str) -> None:
    for own in line:
        assert placements_of(FULL, own, {"tp": line}, ["tp"]) == reason


def test_spread_is_not_how_torch_cuts() -> None:
    line = [(rows((0, 3)),), (rows((3, 5)),), (rows((5, 7)),)]
    reason = "cut unevenly: tp rank 1 has 3..5 of dim 0, where Shard(0) would give it 3..6"
    assert placements_of((rows((0, 7)),), line[0], {"tp": line}, ["tp"]) == reason


def test_a_placement_for_each_mesh_dim() -> None:
    own = (rows((0, 4)), rows((2, 4)))
    lines = {
        "ep": [own, (rows((4, 8)), rows((2, 4)))],
        "tp": [(rows((0, 4)), rows((0, 2))), own],
    }
    assert placements_of(FULL, own, lines, ["dp", "ep", "tp"]) == {"dp": Replicate(), "ep": Shard(0), "tp": Shard(1)}


def test_mesh_dims_on_which_only_some_have_it_are_left_out() -> None:
    assert placements_of(FULL, FULL, {"ep": [None, FULL]}, ["ep", "dp"]) == {"dp": Replicate()}


def test_no_other_mesh_dim() -> None:
    reason = "only some ranks have it, and there is no other mesh dim for a DTensor to be over"
    assert placements_of(FULL, FULL, {"ep": [None, FULL]}, ["ep"]) == reason
