"""`child per parent`: a child's part of the current group, also where ranks share their parents."""

from __future__ import annotations

import pytest

from shardc.layout.errors import FormulaError
from shardc.layout.regions import Regions
from tests.layout.axes import attention, full, rows

PER = "kv_heads * (heads per kv_heads * 2 | 3)"


@pytest.mark.parametrize(
    ("ranks", "how", "by_rank"),
    [
        # 4 kv heads of 7 rows: two heads of 2, then 3.
        pytest.param(2, {}, [((0, 14, 0),), ((14, 28, 0),)], id="whole groups"),
        pytest.param(
            8, {"if_fewer": "replicate"},
            [((0, 2, 0), (4, 7, 0)), ((2, 7, 0),), ((7, 9, 0), (11, 14, 0)), ((9, 14, 0),),
             ((14, 16, 0), (18, 21, 0)), ((16, 21, 0),), ((21, 23, 0), (25, 28, 0)), ((23, 28, 0),)], id="blocked",
        ),
        pytest.param(
            8, {"if_fewer": "replicate", "replicas": "cyclic"},
            [((0, 2, 0), (4, 7, 0)), ((7, 9, 0), (11, 14, 0)), ((14, 16, 0), (18, 21, 0)), ((21, 23, 0), (25, 28, 0)),
             ((2, 7, 0),), ((9, 14, 0),), ((16, 21, 0),), ((23, 28, 0),)], id="cyclic",
        ),
        pytest.param(
            3, {"if_uneven": "ceil"}, [((0, 14, 0),), ((14, 28, 0),), ((0, 0, 14),)], id="a rank of padding: whole groups"
        ),
        pytest.param(3, {"if_uneven": "whole"}, [((0, 28, 0),)] * 3, id="whole"),
    ],
)  # fmt: skip
def test_per(ranks: int, how: dict[str, str], by_rank: list[Regions]) -> None:
    for rank, expected in enumerate(by_rank):
        assert rows(PER, attention(ranks, rank, **how)) == expected
    assert full(PER, attention(ranks, 0, **how)) == 28


def test_per_where_ranks_share_two_kv_heads_at_once() -> None:
    """Granules of 2 kv heads on 4 ranks: ranks 0 and 1 keep kv heads 0 and 1, each the heads of one of them."""
    how = {"if_fewer": "replicate", "granule": 2}
    assert rows(PER, attention(4, 0, **how)) == ((0, 7, 0), (11, 14, 0))
    assert rows(PER, attention(4, 1, **how)) == ((4, 14, 0),)


def test_per_in_another_block() -> None:
    assert rows(f"2 * ({PER})", attention(8, 1, if_fewer="replicate")) == ((2, 7, 0), (30, 35, 0))


@pytest.mark.parametrize(
    ("layout", "message", "at"),
    [
        ("heads per kv_heads", "`heads per kv_heads` stands inside a product with kv_heads: `kv_heads * (…)`", (0, 18)),
        ("1 | kv_heads per heads", "`kv_heads per heads`: kv_heads is not declared `within: heads`", (4, 22)),
        ("kv_heads * (inter per kv_heads)", "`inter per kv_heads`: inter is not declared `within: kv_heads`", (12, 30)),
    ],
)
def test_per_out_of_place(layout: str, message: str, at: tuple[int, int]) -> None:
    with pytest.raises(FormulaError) as caught:
        rows(layout, attention(2, 0))
    assert (caught.value.code, caught.value.message, caught.value.at) == ("SHD203", message, at)
