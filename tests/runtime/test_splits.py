from typing import Any

import pytest

from shardc.runtime import Axis, MeshDim, ShardError, axis, per, within

Parts = list[tuple[int, int, int]]  # (start, stop, pad) of each rank


def axes(name: str, size: int, ranks: int, **options: Any) -> list[Axis]:
    return [axis(name, size, MeshDim("tp", rank, ranks), **options) for rank in range(ranks)]


def parts(axes: list[Axis]) -> Parts:
    return [(part.start, part.stop, part.pad) for part in axes]


@pytest.mark.parametrize(
    ("size", "ranks", "options", "expected"),
    [
        pytest.param(8, 4, {}, [(0, 2, 0), (2, 4, 0), (4, 6, 0), (6, 8, 0)], id="even"),
        pytest.param(512, 2, {"granule": 128}, [(0, 256, 0), (256, 512, 0)], id="even granules"),
        pytest.param(64, 3, {"if_uneven": "spread"}, [(0, 22, 0), (22, 43, 0), (43, 64, 0)], id="spread"),
        pytest.param(14, 2, {"if_uneven": "spread", "granule": 4}, [(0, 8, 0), (8, 14, 0)], id="spread, short granule"),
        pytest.param(10, 4, {"if_uneven": "ceil"}, [(0, 3, 0), (3, 6, 0), (6, 9, 0), (9, 10, 2)], id="ceil"),
        pytest.param(
            24,
            4,
            {"if_uneven": "ceil", "granule": 4},
            [(0, 8, 0), (8, 16, 0), (16, 24, 0), (24, 24, 8)],
            id="ceil, an empty rank",
        ),
        pytest.param(
            17408,
            3,
            {"if_uneven": "ceil", "granule": 128},
            [(0, 5888, 0), (5888, 11776, 0), (11776, 17408, 256)],
            id="ceil, blocks",
        ),
        pytest.param(16, 3, {"if_uneven": "whole"}, [(0, 16, 0)] * 3, id="whole"),
        pytest.param(
            16, 4, {"if_uneven": "whole"}, [(0, 4, 0), (4, 8, 0), (8, 12, 0), (12, 16, 0)], id="whole, but it divides"
        ),
        pytest.param(
            2, 4, {"if_fewer": "replicate"}, [(0, 1, 0), (0, 1, 0), (1, 2, 0), (1, 2, 0)], id="replicas, blocked"
        ),
        pytest.param(
            2, 4, {"if_fewer": "replicate", "replicas": "cyclic"}, [(0, 1, 0), (1, 2, 0)] * 2, id="replicas, cyclic"
        ),
        pytest.param(
            6,
            4,
            {"if_fewer": "replicate", "granule": 4},
            [(0, 4, 0), (0, 4, 0), (4, 6, 0), (4, 6, 0)],
            id="replicas, short granule",
        ),
        pytest.param(
            4, 4, {"if_fewer": "replicate"}, [(0, 1, 0), (1, 2, 0), (2, 3, 0), (3, 4, 0)], id="as many as ranks"
        ),
        pytest.param(49159, 2, {"pad_to": 64}, [(0, 24608, 0), (24608, 49159, 57)], id="padded"),
        pytest.param(
            10, 4, {"pad_to": 16}, [(0, 4, 0), (4, 8, 0), (8, 10, 2), (10, 10, 4)], id="padded, an empty rank"
        ),
        pytest.param(10, 3, {"pad_to": 4, "granule": 2}, [(0, 4, 0), (4, 8, 0), (8, 10, 2)], id="padded granules"),
        pytest.param(22, 2, {"pad_local_to": 4}, [(0, 11, 1), (11, 22, 1)], id="padded after the split"),
        pytest.param(12, 2, {"pad_local_to": 4, "granule": 6}, [(0, 6, 6), (6, 12, 6)], id="padded to whole granules"),
        pytest.param(
            10,
            4,
            {"if_uneven": "ceil", "pad_local_to": 4},
            [(0, 3, 1), (3, 6, 1), (6, 9, 1), (9, 10, 3)],
            id="padded twice",
        ),
        pytest.param(
            7, 3, {"placement": "round_robin", "if_uneven": "spread"}, [(0, 7, 0), (1, 5, 0), (2, 6, 0)], id="in turn"
        ),
        pytest.param(10, 1, {"pad_to": 16, "pad_local_to": 7}, [(0, 10, 0)], id="one rank"),
        pytest.param(0, 3, {"pad_to": 64, "pad_local_to": 7}, [(0, 0, 0)] * 3, id="nothing"),
        pytest.param(0, 3, {"if_fewer": "replicate"}, [(0, 0, 0)] * 3, id="nothing to replicate"),
    ],
)
def test_parts(size: int, ranks: int, options: dict[str, Any], expected: Parts) -> None:
    assert parts(axes("heads", size, ranks, **options)) == expected


@pytest.mark.parametrize(
    ("size", "ranks", "options", "text"),
    [
        (4, 8, {}, "4 heads cannot be dealt to 8 tp ranks: 0.5 each"),
        (52, 8, {}, "52 heads cannot be dealt to 8 tp ranks: 6.5 each"),
        (16, 12, {}, "16 heads cannot be dealt to 12 tp ranks: 1.33 each"),
        (
            1536,
            8,
            {"granule": 128},
            "1536 heads cannot be dealt to 8 tp ranks: 12 granules of 128, 1.5 (192 elements) each",
        ),
        (
            300,
            2,
            {"granule": 128},
            "300 heads cannot be dealt to 2 tp ranks: 2.34 granules of 128, 1.17 (150 elements) each",
        ),
        (2, 3, {"if_uneven": "spread"}, "2 heads cannot be dealt to 3 tp ranks: 0.67 each"),
        (
            4,
            6,
            {"if_fewer": "replicate"},
            "4 heads cannot be dealt to 6 tp ranks: fewer than the ranks, and 6 is not a multiple of 4",
        ),
    ],
)
def test_refusals(size: int, ranks: int, options: dict[str, Any], text: str) -> None:
    with pytest.raises(ShardError) as caught:
        axes("heads", size, ranks, **options)
    assert caught.value.findings == (("SHD201", text),)


def test_replicas_are_counted() -> None:
    assert axes("heads", 16, 3, if_uneven="whole")[0].replicas == 3
    assert [(part.replicas, part.sub) for part in axes("kv", 2, 4, if_fewer="replicate")] == [
        (2, 0),
        (2, 1),
        (2, 0),
        (2, 1),
    ]
    assert [part.sub for part in axes("kv", 2, 4, if_fewer="replicate", replicas="cyclic")] == [0, 0, 1, 1]
    assert axes("heads", 8, 4)[0].replicas == 1


def test_within_a_split_parent() -> None:
    heads = [within("heads", 32, parent) for parent in axes("kv_heads", 8, 4)]
    assert parts(heads) == [(0, 8, 0), (8, 16, 0), (16, 24, 0), (24, 32, 0)]


def test_within_a_padded_parent_pads_whole_groups() -> None:
    heads = [within("heads", 15, parent) for parent in axes("kv_heads", 5, 3, if_uneven="ceil")]
    assert parts(heads) == [(0, 6, 0), (6, 12, 0), (12, 15, 3)]


def test_within_a_parent_that_is_kept_whole() -> None:
    heads = [within("heads", 32, parent) for parent in axes("kv_heads", 16, 3, if_uneven="whole")]
    assert parts(heads) == [(0, 32, 0)] * 3
    assert heads[0].replicas == 3


@pytest.mark.parametrize(
    ("order", "expected"),
    [("blocked", [(0, 4), (4, 8), (8, 12), (12, 16)]), ("cyclic", [(0, 4), (8, 12), (4, 8), (12, 16)])],
)
def test_within_a_replicated_parent_the_groups_are_shared(order: str, expected: list[tuple[int, int]]) -> None:
    heads = [within("heads", 16, parent) for parent in axes("kv_heads", 2, 4, if_fewer="replicate", replicas=order)]
    assert [(part.start, part.stop) for part in heads] == expected
    assert [part.replicas for part in heads] == [1, 1, 1, 1]


def test_nothing_within_a_replicated_parent() -> None:
    """A config may have none of a layer's heads; every rank then has none of them."""
    heads = [within("heads", 0, parent) for parent in axes("kv_heads", 2, 4, if_fewer="replicate")]
    assert [(part.start, part.stop, part.local) for part in heads] == [(0, 0, 0)] * 4


def test_within_within() -> None:
    kv_heads = axes("kv_heads", 2, 4, if_fewer="replicate")
    halves = [within("halves", 32, within("heads", 16, parent)) for parent in kv_heads]
    assert parts(halves) == [(0, 8, 0), (8, 16, 0), (16, 24, 0), (24, 32, 0)]


def test_within_an_empty_parent() -> None:
    assert parts([within("heads", 0, parent) for parent in axes("kv_heads", 0, 2)]) == [(0, 0, 0)] * 2
    with pytest.raises(ShardError, match=r"^SHD204: 16 heads are not a whole multiple of the 0 kv_heads$"):
        within("heads", 16, axes("kv_heads", 0, 2)[0])


def test_within_refuses_a_ragged_group() -> None:
    with pytest.raises(ShardError, match=r"^SHD204: 30 heads are not a whole multiple of the 8 kv_heads$"):
        within("heads", 30, axes("kv_heads", 8, 4)[0])


def test_within_refuses_a_group_that_cannot_be_shared() -> None:
    with pytest.raises(ShardError, match=r"^SHD204: 3 heads of one kv_heads cannot be shared by 2 ranks$"):
        within("heads", 6, axes("kv_heads", 2, 4, if_fewer="replicate")[0])


def test_per_group_of_a_shared_parent() -> None:
    kv_heads = axes("kv_heads", 2, 4, if_fewer="replicate")
    heads = [within("heads", 16, parent) for parent in kv_heads]
    assert [per(heads[rank], kv_heads[rank], 0) for rank in range(4)] == [(0, 4), (4, 8), (0, 0), (0, 0)]
    assert [per(heads[rank], kv_heads[rank], 1) for rank in range(4)] == [(0, 0), (0, 0), (0, 4), (4, 8)]


def test_per_group_of_a_split_parent_is_whole() -> None:
    kv_heads = axes("kv_heads", 4, 2)[1]
    heads = within("heads", 12, kv_heads)
    assert [per(heads, kv_heads, index) for index in range(4)] == [(0, 0), (0, 0), (0, 3), (0, 3)]


@pytest.mark.parametrize(
    "options", [{"if_uneven": "ceil"}, {"if_uneven": "spread"}, {"pad_to": 64}, {"if_uneven": "ceil", "granule": 3}]
)
@pytest.mark.parametrize("size", [7, 16, 29])
@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
def test_the_ranks_cover_an_axis_exactly_once(size: int, ranks: int, options: dict[str, Any]) -> None:
    kept = [element for part in axes("x", size, ranks, **options) for element in range(part.start, part.stop)]
    assert kept == list(range(size))


def test_where_an_element_stands() -> None:
    dim = MeshDim("ep", 1, 2)
    dealt = axis("experts", 7, dim, granule=2, placement="round_robin", if_uneven="spread")
    assert list(dealt.elements()) == [2, 3, 6]
    assert [dealt.position(element) for element in dealt.elements()] == [0, 1, 2]
    assert [axis("experts", 4, dim).position(element) for element in (2, 3)] == [0, 1]
