import pytest

import shardc.runtime as rt
from shardc.runtime.moves import Move, rows_interleaved, rows_kept, rows_turned, turn_in_units

PAIRS = rt.Turn((2, 3), (3, 1), (1, 2))


def test_rows_kept() -> None:
    [move] = rows_kept(6, 4)
    assert move == Move(0, 4, 6)
    assert move.blocks(2, 5) == range(2, 5)


def test_rows_interleaved() -> None:
    assert rows_interleaved([8, 12], 4) == [
        (Move(0, 0, 4, 2, 5, (2,), (1,), (1,)),),
        (Move(0, 2, 4, 3, 5, (3,), (1,), (1,)),),
    ]


def test_rows_turned() -> None:
    granules = (rt.Granules(2, 8, (PAIRS, rt.Turn((2,), (1,), (1,), 6, 6))), rt.Granules(5))
    assert rows_turned(granules, 1, 100) == (
        Move(0, 100, 2, 8, 8, (2, 3), (3, 1), (1, 2)),
        Move(6, 106, 2, 8, 8, (2,), (1,), (1,)),
        Move(16, 116, 5),
    )


@pytest.mark.parametrize(
    ("low", "high", "blocks"),
    [(0, 16, [0, 1]), (0, 8, [0]), (8, 16, [1]), (8, 24, [1]), (16, 24, []), (0, 0, [])],
)
def test_blocks_of_whole_granules(low: int, high: int, blocks: list[int]) -> None:
    """Two granules of eight rows, of which the move has those from the seventh on."""
    assert list(Move(6, 6, 2, 8, 8, (2,), (1,), (1,)).blocks(low, high)) == blocks


def test_no_blocks_of_no_rows() -> None:
    [(move,), _] = rows_interleaved([0, 4], 2)
    assert list(move.blocks(0, 0)) == []


def test_a_turn_in_units() -> None:
    turn = rt.Turn((3, 256), (256, 1), (384, 1), 128, 0)
    assert turn_in_units(turn, 128) == rt.Turn((3, 2), (2, 1), (3, 1), 1, 0)
    assert turn_in_units(PAIRS, 1) is PAIRS


@pytest.mark.parametrize(
    ("turn", "rows"),
    [
        (rt.Turn((2, 128), (128, 1), (1, 2)), 1),
        (rt.Turn((2, 64), (64, 1), (128, 1)), 64),
        (rt.Turn((128,), (1,), (1,), 192, 0), 192),
        (rt.Turn((128,), (1,), (1,), 0, 32), 32),
    ],
)
def test_parts_of_units(turn: rt.Turn, rows: int) -> None:
    with pytest.raises(rt.ShardError) as refused:
        turn_in_units(turn, 128)
    text = f"rows are permuted {rows} at a time, inside a unit of 128"
    assert refused.value.findings == (("SHD212", text),)
