"""The rows that each rank keeps of a dim, for every form of layout."""

from __future__ import annotations

import pytest

from shardc.layout.errors import FormulaError
from shardc.layout.parse import parse
from shardc.layout.regions import Region, Regions, Scope, has_axis, local_size, measure, merge
from shardc.layout.split import deal_within
from tests.layout.axes import attention, axis, full, rows, scope

QKV = "heads * head_dim | kv_heads * head_dim | kv_heads * head_dim"
GROUPED = "kv_heads * (2 * head_dim | head_dim | head_dim)"
QKVZ = "k_heads * (key_dim | key_dim | v_per_k * value_dim | v_per_k * value_dim)"


def everything(ranks: int, rank: int) -> Scope:
    """4 kv heads, 8 heads, 4 k heads, 12 elements of inter."""
    kv_heads = axis("kv_heads", 4, ranks)
    return scope(
        kv_heads,
        deal_within("heads", 8, kv_heads),
        axis("k_heads", 4, ranks),
        axis("inter", 12, ranks),
        rank={"tp": rank},
    )


@pytest.mark.parametrize(
    ("layout", "size", "by_rank"),
    [
        pytest.param("heads * head_dim", 64, [((0, 16),), ((16, 32),), ((32, 48),), ((48, 64),)], id="by head"),
        pytest.param(
            QKV, 128,
            [((0, 16), (64, 72), (96, 104)), ((16, 32), (72, 80), (104, 112)),
             ((32, 48), (80, 88), (112, 120)), ((48, 64), (88, 96), (120, 128))], id="q, k and v",
        ),
        pytest.param(GROUPED, 128, [((0, 32),), ((32, 64),), ((64, 96),), ((96, 128),)], id="qkv of each kv head"),
        pytest.param(QKVZ, 80, [((0, 20),), ((20, 40),), ((40, 60),), ((60, 80),)], id="qkvz of each k head"),
        pytest.param("inter * 2", 24, [((0, 6),), ((6, 12),), ((12, 18),), ((18, 24),)], id="pairs"),
        pytest.param(
            "inter | inter", 24,
            [((0, 3), (12, 15)), ((3, 6), (15, 18)), ((6, 9), (18, 21)), ((9, 12), (21, 24))], id="halves",
        ),
        pytest.param(
            "4 * (kv_heads * 2)", 32,
            [((0, 2), (8, 10), (16, 18), (24, 26)), ((2, 4), (10, 12), (18, 20), (26, 28)),
             ((4, 6), (12, 14), (20, 22), (28, 30)), ((6, 8), (14, 16), (22, 24), (30, 32))], id="four blocks",
        ),
        pytest.param(
            "2 * (inter | 1)", 26,
            [((0, 3), (12, 16), (25, 26)), ((3, 6), (12, 13), (16, 19), (25, 26)),
             ((6, 9), (12, 13), (19, 22), (25, 26)), ((9, 13), (22, 26))], id="blocks with a part that is whole",
        ),
        pytest.param("kv_lora + rope", 576, [((0, 576),)] * 4, id="numbers"),
        pytest.param("kv_lora | rope", 576, [((0, 576),)] * 4, id="segments that are whole"),
        pytest.param("head_dim", 8, [((0, 8),)] * 4, id="no axis"),
        pytest.param("0 * heads", 0, [()] * 4, id="no block"),
        pytest.param("heads * 0", 0, [()] * 4, id="no row"),
    ],
)  # fmt: skip
def test_rows_of_each_of_four_ranks(layout: str, size: int, by_rank: list[tuple[tuple[int, int], ...]]) -> None:
    assert full(layout, everything(4, 0)) == size
    for rank, expected in enumerate(by_rank):
        assert rows(layout, everything(4, rank)) == tuple((start, stop, 0) for start, stop in expected)


@pytest.mark.parametrize("layout", [QKV, GROUPED, QKVZ, "inter * 2", "inter | inter", "4 * (kv_heads * 2)"])
def test_one_rank_keeps_the_file(layout: str) -> None:
    assert rows(layout, everything(1, 0)) == ((0, full(layout, everything(1, 0)), 0),)


def test_two_mesh_dims_cut_one_dim() -> None:
    """4 experts over ep=2, each with a gate and an up half of 6 over tp=3."""
    here = scope(axis("experts", 4, 2, over="ep"), axis("inter", 6, 3), rank={"ep": 1, "tp": 2})
    assert full("experts * (inter | inter)", here) == 48
    assert rows("experts * (inter | inter)", here) == ((28, 30, 0), (34, 36, 0), (40, 42, 0), (46, 48, 0))
    assert rows("experts * 2", here) == ((4, 8, 0),)


@pytest.mark.parametrize(
    ("parts", "merged"),
    [
        ([], ()),
        ([(0, 4, 0), (4, 6, 0), (6, 7, 0)], ((0, 7, 0),)),
        ([(0, 4, 0), (5, 6, 0)], ((0, 4, 0), (5, 6, 0))),
        ([(4, 6, 0), (0, 4, 0)], ((4, 6, 0), (0, 4, 0))),
        ([(0, 4, 1), (4, 6, 0)], ((0, 4, 1), (4, 6, 0))),
        ([(0, 4, 0), (4, 6, 2)], ((0, 6, 2),)),
        ([(3, 3, 0), (0, 4, 0), (9, 9, 0), (4, 5, 0)], ((0, 5, 0),)),
        ([(0, 4, 1), (9, 9, 2)], ((0, 4, 3),)),
        ([(9, 9, 2), (7, 7, 1), (0, 4, 0)], ((0, 0, 3), (0, 4, 0))),
    ],
)
def test_merge(parts: list[Region], merged: Regions) -> None:
    assert merge(parts) == merged


def test_sizes() -> None:
    assert local_size(()) == 0
    assert local_size(((0, 4, 1), (9, 12, 0))) == 8
    here = attention(4, 1, if_fewer="replicate")
    assert measure(parse("local(heads * head_dim | 3) // 2 + hidden"), here) == (2 * 8 + 3) // 2 + 16
    assert measure(parse("hidden"), here) == 16


def test_what_an_axis_takes_part_in() -> None:
    here = attention(2, 0)
    split = ["heads", "2 * heads", "heads * 2", "1 | heads", "heads + 1", "kv_heads * (heads per kv_heads)"]
    whole = ["hidden", "2 * hidden", "hidden | 1", "local(heads)", "local(heads) * 2", "min(1, 2)"]
    assert [has_axis(parse(layout), here) for layout in split + whole] == [True] * 6 + [False] * 6


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ("hidden * 9007199254740991",
         "`hidden * 9007199254740991` = 144115188075855856 is not a size (0 or more, below 2**53)"),
        ("heads * huge", "`heads * huge` = 18014398509481984 is not a size (0 or more, below 2**53)"),
        ("heads | huge | huge | huge | huge",
         "`heads | huge | huge | huge | huge` = 9007199254741000 is not a size (0 or more, below 2**53)"),
    ],
)  # fmt: skip
def test_dims_too_large(layout: str, message: str) -> None:
    with pytest.raises(FormulaError) as caught:
        full(layout, scope(axis("heads", 8, 2), huge=2**51))
    assert (caught.value.code, caught.value.message, caught.value.at) == ("SHD112", message, (0, len(layout)))


@pytest.mark.parametrize(
    ("layout", "part"),
    [
        ("10001 * heads", "10001 * heads"),
        ("101 * (100 * heads)", "101 * (100 * heads)"),
        ("2 * (10001 * heads)", "10001 * heads"),
        ("9999 * heads | 2 * heads", "2 * heads"),
    ],
)
def test_too_many_regions(layout: str, part: str) -> None:
    with pytest.raises(FormulaError) as caught:
        rows(layout, scope(axis("heads", 8, 2)))
    message = f"with `{part}` the dim has over 10,000 regions"
    assert (caught.value.code, caught.value.message) == ("SHD112", message)


def test_just_within_the_bounds() -> None:
    here = scope(axis("heads", 8, 2), rank={"tp": 1})
    assert len(rows("10000 * heads", here)) == 10_000
    assert rows("99999 * (99999 * (heads * 0))", here) == ()


@pytest.mark.parametrize(
    ("layout", "by_rank"),
    [
        ("experts", [((0, 1), (2, 3), (4, 5)), ((1, 2), (3, 4))]),
        ("experts * 4", [((0, 4), (8, 12), (16, 20)), ((4, 8), (12, 16))]),
        ("experts | 3", [((0, 1), (2, 3), (4, 8)), ((1, 2), (3, 4), (5, 8))]),
        ("2 * experts", [((0, 1), (2, 3), (4, 6), (7, 8), (9, 10)), ((1, 2), (3, 4), (6, 7), (8, 9))]),
        ("experts * (inter | 1)", [((0, 2), (4, 5), (10, 12), (14, 15), (20, 22), (24, 25)),
                                   ((5, 7), (9, 10), (15, 17), (19, 20))]),
        ("experts * (rows per experts | 1)", [((0, 3), (6, 9), (12, 15)), ((3, 6), (9, 12))]),
        ("rows", [((0, 2), (4, 6), (8, 10)), ((2, 4), (6, 8))]),
    ],
)  # fmt: skip
def test_an_axis_that_is_dealt_round_robin(layout: str, by_rank: list[tuple[tuple[int, int], ...]]) -> None:
    experts = axis("experts", 5, 2, over="ep", placement="round_robin", if_uneven="spread")
    for rank, expected in enumerate(by_rank):
        here = scope(experts, deal_within("rows", 10, experts), axis("inter", 4, 2), rank={"ep": rank})
        assert rows(layout, here) == tuple((start, stop, 0) for start, stop in expected)


def test_an_axis_in_too_many_runs() -> None:
    with pytest.raises(FormulaError, match="with `experts` the dim has over 10,000 regions"):
        rows("experts", scope(axis("experts", 30_000, 2, placement="round_robin")))
