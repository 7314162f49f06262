from typing import Any

import pytest

from shardc.layout.errors import SplitError
from shardc.layout.split import Dealing, Split, deal, deal_within, granule_of_stride, number, round_up

Shares = list[tuple[int, int, int]]


def shares(size: int, ranks: int, **how: Any) -> Shares:
    return spans(deal("axis", size, "tp", ranks, Dealing(**how)))


def spans(split: Split) -> Shares:
    return [(share.start, share.stop, share.pad) for share in split.shares]


@pytest.mark.parametrize(
    ("size", "ranks", "how", "expected"),
    [
        pytest.param(32, 4, {}, [(0, 8, 0), (8, 16, 0), (16, 24, 0), (24, 32, 0)], id="even"),
        pytest.param(64, 3, {"if_uneven": "spread"}, [(0, 22, 0), (22, 43, 0), (43, 64, 0)], id="22, 21, 21"),
        pytest.param(
            64, 3, {"if_uneven": "spread", "granule": 2}, [(0, 22, 0), (22, 44, 0), (44, 64, 0)], id="22, 22, 20"
        ),
        pytest.param(
            13, 3, {"if_uneven": "spread", "granule": 4}, [(0, 8, 0), (8, 12, 0), (12, 13, 0)], id="a short granule"
        ),
        pytest.param(
            2880, 4, {"if_uneven": "ceil", "granule": 32},
            [(0, 736, 0), (736, 1472, 0), (1472, 2208, 0), (2208, 2880, 64)], id="736, 736, 736, 672 and 64 of zero",
        ),
        pytest.param(
            5, 4, {"if_uneven": "ceil"}, [(0, 2, 0), (2, 4, 0), (4, 5, 1), (5, 5, 2)], id="a short and an empty rank"
        ),
        pytest.param(12, 4, {"if_uneven": "ceil"}, [(0, 3, 0), (3, 6, 0), (6, 9, 0), (9, 12, 0)], id="ceil that divides"),
        pytest.param(3, 2, {"if_uneven": "ceil", "granule": 8}, [(0, 3, 5), (3, 3, 8)], id="less than a granule"),
        pytest.param(16, 3, {"if_uneven": "whole"}, [(0, 16, 0)] * 3, id="whole"),
        pytest.param(16, 2, {"if_uneven": "whole"}, [(0, 8, 0), (8, 16, 0)], id="whole that divides"),
        pytest.param(49159, 2, {"pad_to": 64}, [(0, 24608, 0), (24608, 49159, 57)], id="24551 and 57 of zero"),
        pytest.param(
            10, 8, {"pad_to": 16},
            [(0, 2, 0), (2, 4, 0), (4, 6, 0), (6, 8, 0), (8, 10, 0), (10, 10, 2), (10, 10, 2), (10, 10, 2)],
            id="ranks 5 to 7 all zero",
        ),
        pytest.param(10, 3, {"pad_to": 4}, [(0, 4, 0), (4, 8, 0), (8, 10, 2)], id="padded to 12, lcm(4, 3)"),
        pytest.param(100, 2, {"pad_to": 1, "granule": 64}, [(0, 64, 0), (64, 100, 28)], id="padded to whole granules"),
        pytest.param(
            4, 8, {"if_fewer": "replicate"},
            [(0, 1, 0), (0, 1, 0), (1, 2, 0), (1, 2, 0), (2, 3, 0), (2, 3, 0), (3, 4, 0), (3, 4, 0)], id="blocked",
        ),
        pytest.param(
            4, 8, {"if_fewer": "replicate", "replicas": "cyclic"},
            [(0, 1, 0), (1, 2, 0), (2, 3, 0), (3, 4, 0)] * 2, id="cyclic",
        ),
        pytest.param(
            6, 4, {"if_fewer": "replicate", "granule": 4},
            [(0, 4, 0), (0, 4, 0), (4, 6, 0), (4, 6, 0)], id="replicas of a short granule",
        ),
        pytest.param(1, 3, {"if_fewer": "replicate"}, [(0, 1, 0)] * 3, id="one for all"),
        pytest.param(8, 4, {"if_fewer": "replicate"}, [(0, 2, 0), (2, 4, 0), (4, 6, 0), (6, 8, 0)], id="not fewer"),
        pytest.param(
            9, 4, {"if_fewer": "replicate", "if_uneven": "spread"},
            [(0, 3, 0), (3, 5, 0), (5, 7, 0), (7, 9, 0)], id="not fewer, but uneven",
        ),
        pytest.param(300, 2, {"pad_local_to": 128}, [(0, 150, 106), (150, 300, 106)], id="150 padded to 256"),
        pytest.param(12, 2, {"pad_local_to": 4, "granule": 6}, [(0, 6, 6), (6, 12, 6)], id="padded to whole granules"),
        pytest.param(256, 2, {"pad_local_to": 128}, [(0, 128, 0), (128, 256, 0)], id="tiles as they are"),
        pytest.param(
            5, 2, {"if_uneven": "ceil", "pad_local_to": 4}, [(0, 3, 1), (3, 5, 2)], id="padding in both ways"
        ),
        pytest.param(
            2, 4, {"if_fewer": "replicate", "pad_local_to": 2},
            [(0, 1, 1), (0, 1, 1), (1, 2, 1), (1, 2, 1)], id="replicas, padded",
        ),
        pytest.param(10, 1, {"pad_to": 16, "pad_local_to": 16, "granule": 3}, [(0, 10, 0)], id="one rank: as it is"),
        pytest.param(0, 3, {}, [(0, 0, 0)] * 3, id="nothing"),
        pytest.param(0, 2, {"pad_to": 8}, [(0, 0, 0)] * 2, id="nothing is not padded"),
    ],
)  # fmt: skip
def test_shares(size: int, ranks: int, how: dict[str, Any], expected: Shares) -> None:
    assert shares(size, ranks, **how) == expected


def test_how_many_ranks_hold_an_element() -> None:
    assert deal("kv", 8, "tp", 4, Dealing()).replicas == 1
    assert deal("kv", 4, "tp", 8, Dealing(if_fewer="replicate")).replicas == 2
    assert deal("kv", 4, "tp", 8, Dealing(if_fewer="replicate")).sharing == (0, 1, 0, 1, 0, 1, 0, 1)
    assert deal("kv", 4, "tp", 8, Dealing(if_fewer="replicate", replicas="cyclic")).sharing == (0, 0, 0, 0, 1, 1, 1, 1)
    assert deal("kv", 16, "tp", 3, Dealing(if_uneven="whole")).replicas == 3
    assert deal("kv", 16, "tp", 1, Dealing()).replicas == 1


@pytest.mark.parametrize(
    ("size", "ranks", "how", "message", "hint"),
    [
        (4, 8, {}, "4 heads cannot be dealt to 8 tp ranks: 0.5 each", "4 over 8: 0.5 each"),
        (64, 3, {}, "64 heads cannot be dealt to 3 tp ranks: 21.33 each", "64 over 3: 21.33 each"),
        (401, 400, {}, "401 heads cannot be dealt to 400 tp ranks: 1 each", "401 over 400: 1 each"),
        (2, 3, {"if_uneven": "spread"}, "2 heads cannot be dealt to 3 tp ranks: 0.67 each", "2 over 3: 0.67 each"),
        (
            1536, 8, {"granule": 128},
            "1536 heads cannot be dealt to 8 tp ranks: 12 granules of 128, 1.5 (192 elements) each",
            "12 granules of 128 over 8",
        ),
        (
            300, 2, {"granule": 128},
            "300 heads cannot be dealt to 2 tp ranks: 2.34 granules of 128, 1.17 (150 elements) each",
            "2.34 granules of 128 over 2",
        ),
        (
            4, 6, {"if_fewer": "replicate"},
            "4 heads cannot be dealt to 6 tp ranks: fewer than the ranks, and 6 is not a multiple of 4",
            "4 over 6: neither split nor shared evenly",
        ),
        (9, 8, {"if_fewer": "replicate"}, "9 heads cannot be dealt to 8 tp ranks: 1.12 each", "9 over 8: 1.12 each"),
    ],
)  # fmt: skip
def test_refusals(size: int, ranks: int, how: dict[str, Any], message: str, hint: str) -> None:
    with pytest.raises(SplitError) as caught:
        deal("heads", size, "tp", ranks, Dealing(**how))
    error = caught.value
    assert (error.code, error.axis, error.message, error.hint) == ("SHD201", "heads", message, hint)


def within(size: int, parent_size: int, ranks: int, **how: Any) -> Split:
    return deal_within("heads", size, deal("kv_heads", parent_size, "tp", ranks, Dealing(**how)))


@pytest.mark.parametrize(
    ("size", "parent", "ranks", "how", "expected"),
    [
        pytest.param(32, 8, 4, {}, [(0, 8, 0), (8, 16, 0), (16, 24, 0), (24, 32, 0)], id="whole groups"),
        pytest.param(15, 5, 3, {"if_uneven": "ceil"}, [(0, 6, 0), (6, 12, 0), (12, 15, 3)], id="groups of zero"),
        pytest.param(
            32, 4, 8, {"if_fewer": "replicate"},
            [(0, 4, 0), (4, 8, 0), (8, 12, 0), (12, 16, 0), (16, 20, 0), (20, 24, 0), (24, 28, 0), (28, 32, 0)],
            id="parts of a group, blocked",
        ),
        pytest.param(
            16, 2, 4, {"if_fewer": "replicate", "replicas": "cyclic"},
            [(0, 4, 0), (8, 12, 0), (4, 8, 0), (12, 16, 0)], id="parts of a group, cyclic",
        ),
        pytest.param(48, 16, 3, {"if_uneven": "whole"}, [(0, 48, 0)] * 3, id="whole"),
        pytest.param(0, 0, 2, {}, [(0, 0, 0)] * 2, id="nothing"),
    ],
)  # fmt: skip
def test_within(size: int, parent: int, ranks: int, how: dict[str, Any], expected: Shares) -> None:
    assert spans(within(size, parent, ranks, **how)) == expected


def test_within_a_replicated_parent_each_rank_has_its_own() -> None:
    heads = within(32, 4, 8, if_fewer="replicate")
    assert (heads.replicas, heads.group, heads.parent) == (1, 8, "kv_heads")
    assert within(48, 16, 3, if_uneven="whole").replicas == 3


def test_within_within() -> None:
    halves = deal_within("halves", 32, within(16, 2, 4, if_fewer="replicate"))
    assert spans(halves) == [(0, 8, 0), (8, 16, 0), (16, 24, 0), (24, 32, 0)]


@pytest.mark.parametrize(
    ("size", "parent", "ranks", "how", "message"),
    [
        (30, 8, 4, {}, "30 heads are not a whole multiple of the 8 kv_heads"),
        (16, 0, 2, {}, "16 heads are not a whole multiple of the 0 kv_heads"),
        (6, 2, 4, {"if_fewer": "replicate"}, "3 heads of one kv_heads cannot be shared by 2 ranks"),
    ],
)
def test_within_refusals(size: int, parent: int, ranks: int, how: dict[str, Any], message: str) -> None:
    with pytest.raises(SplitError) as caught:
        within(size, parent, ranks, **how)
    assert (caught.value.code, caught.value.axis, caught.value.message) == ("SHD204", "heads", message)


@pytest.mark.parametrize(
    ("unit", "stride", "elements"),
    [(128, 128, 1), (128, 64, 2), (128, 192, 2), (128, 1, 128), (16, 128, 1), (128, 0, 1)],
)
def test_granule_of_stride(unit: int, stride: int, elements: int) -> None:
    assert granule_of_stride(unit, stride) == elements


def test_numbers_for_people() -> None:
    assert [number(a, b) for a, b in [(6, 3), (1, 2), (4, 3), (401, 400), (1001, 1000), (10, 4)]] == [
        "2", "0.5", "1.33", "1", "1", "2.5",
    ]  # fmt: skip
    assert [round_up(n, 64) for n in (0, 1, 64, 65)] == [0, 64, 64, 128]


Runs = list[list[tuple[int, int]]]


def runs(split: Split) -> Runs:
    assert not any(share.pad for share in split.shares)
    return [list(share.runs) for share in split.shares]


@pytest.mark.parametrize(
    ("size", "ranks", "how", "expected"),
    [
        pytest.param(6, 2, {}, [[(0, 1), (2, 3), (4, 5)], [(1, 2), (3, 4), (5, 6)]], id="in turn"),
        pytest.param(
            5, 3, {"if_uneven": "spread"}, [[(0, 1), (3, 4)], [(1, 2), (4, 5)], [(2, 3)]], id="the first ranks one more"
        ),
        pytest.param(8, 2, {"granule": 2}, [[(0, 2), (4, 6)], [(2, 4), (6, 8)]], id="granules"),
        pytest.param(
            7, 3, {"granule": 2, "if_uneven": "spread"}, [[(0, 2), (6, 7)], [(2, 4)], [(4, 6)]], id="a short granule"
        ),
        pytest.param(5, 2, {"if_uneven": "whole"}, [[(0, 5)]] * 2, id="whole"),
        pytest.param(4, 2, {"if_uneven": "whole"}, [[(0, 1), (2, 3)], [(1, 2), (3, 4)]], id="whole that divides"),
        pytest.param(2, 4, {"if_fewer": "replicate"}, [[(0, 1)], [(0, 1)], [(1, 2)], [(1, 2)]], id="fewer than ranks"),
        pytest.param(5, 1, {}, [[(0, 5)]], id="one rank"),
        pytest.param(0, 2, {}, [[(0, 0)], [(0, 0)]], id="nothing"),
    ],
)
def test_round_robin(size: int, ranks: int, how: dict[str, Any], expected: Runs) -> None:
    assert runs(deal("axis", size, "tp", ranks, Dealing(placement="round_robin", **how))) == expected


@pytest.mark.parametrize(("size", "how"), [(5, {}), (1, {"if_uneven": "spread"}), (6, {"granule": 2})])
def test_round_robin_is_refused_where_neighbours_are(size: int, how: dict[str, Any]) -> None:
    refusals = []
    for placement in ("contiguous", "round_robin"):
        with pytest.raises(SplitError) as caught:
            deal("axis", size, "tp", 2, Dealing(placement=placement, **how))
        refusals.append((caught.value.code, caught.value.message))
    assert refusals[0] == refusals[1]


def test_what_is_within_goes_round_with_its_parent() -> None:
    parent = deal("experts", 4, "ep", 2, Dealing(placement="round_robin"))
    assert runs(deal_within("rows", 12, parent)) == [[(0, 3), (6, 9)], [(3, 6), (9, 12)]]
    assert runs(deal_within("none", 0, parent)) == [[(0, 0)], [(0, 0)]]
