"""Two layouts of the same factors, as strides; and the pairs of layouts that say no permutation."""

from __future__ import annotations

import pytest

from shardc.layout.errors import FormulaError
from shardc.layout.parse import parse
from shardc.layout.permutation import factors, permutation
from shardc.layout.show import show

AXES = {"heads", "kv_heads"}


def runs(origin: str, to: str) -> list[tuple[object, ...]]:
    """(count, size, turns) of each run; a turn is (sizes, strides, to, start, place)."""
    return [
        (
            show(run.count),
            show(run.size),
            [
                (*(list(map(show, exprs)) for exprs in (turn.sizes, turn.strides, turn.to)), show(turn.start), show(turn.place))
                for turn in run.turns
            ],
        )
        for run in permutation(parse(origin), parse(to), AXES)
    ]  # fmt: skip


def test_two_factors_of_each_head() -> None:
    assert runs("heads * 2 * half", "heads * half * 2") == [
        ("heads", "2 * half", [(["2", "half"], ["half", "1"], ["1", "2"], "0", "0")])
    ]


def test_three_factors() -> None:
    assert runs("heads * a * b * 3", "heads * 3 * a * b") == [
        ("heads", "a * b * 3", [(["a", "b", "3"], ["b * 3", "3", "1"], ["b", "1", "a * b"], "0", "0")])
    ]


def test_segments_of_a_granule() -> None:
    assert runs("heads * (nope | 2 * half)", "heads * (half * 2 | nope)") == [
        (
            "heads",
            "nope | 2 * half",
            [
                (["nope"], ["1"], ["1"], "0", "half * 2"),
                (["2", "half"], ["half", "1"], ["1", "2"], "nope", "0"),
            ],
        )
    ]


def test_a_factor_before_segments() -> None:
    assert runs("heads * 2 * (a | b)", "heads * (2 * a | 2 * b)") == [
        (
            "heads",
            "2 * (a | b)",
            [
                (["2", "a"], ["a + b", "1"], ["a", "1"], "0", "0"),
                (["2", "b"], ["a + b", "1"], ["b", "1"], "a", "2 * a"),
            ],
        )
    ]


def test_segments_with_axes_each_by_itself() -> None:
    assert runs("heads * 2 * a | kv_heads * a", "heads * a * 2 | kv_heads * a") == [
        ("heads", "2 * a", [(["2", "a"], ["a", "1"], ["1", "2"], "0", "0")]),
        ("kv_heads * a", "1", []),
    ]


def test_what_stands_before_an_axis_stays() -> None:
    assert runs("3 * heads * 2 * a", "3 * heads * a * 2")[0][0] == "3 * heads"


def test_without_an_axis_the_dim_is_one_granule() -> None:
    assert runs("2 * a", "a * 2") == [("1", "2 * a", [(["2", "a"], ["a", "1"], ["1", "2"], "0", "0")])]


def test_factors() -> None:
    assert [show(factor) for factor in factors(parse("heads * (2 * a) * (b | c)"))] == ["heads", "2", "a", "b | c"]


@pytest.mark.parametrize(
    ("origin", "to", "message"),
    [
        ("heads * 2", "heads * 2", "`from` and `to` are both `heads * 2`: no row changes its place"),
        ("heads * 2", "2 * heads", "`heads * 2` and `2 * heads` differ at an axis or before it: rows of several ranks would move"),
        ("heads * 2", "kv_heads * 2", "`heads * 2` and `kv_heads * 2` differ at an axis or before it: rows of several ranks would move"),
        ("a * 2", "2 * heads", "`a * 2` and `2 * heads` differ at an axis or before it: rows of several ranks would move"),
        ("heads | 2 * a", "2 * a | heads", "`heads` and `2 * a` differ at an axis or before it: rows of several ranks would move"),
        ("heads * 2 * a", "heads * a * 3", "`2 * a` and `a * 3` are not made of the same factors"),
        ("heads * 2 * a", "heads * a", "`2 * a` and `a` are not made of the same factors"),
        ("heads * a", "heads * a * 2", "`a` and `a * 2` are not made of the same factors"),
        ("heads * (a | b)", "heads * (a | b | c)", "`a | b` and `a | b | c` are not made of the same factors"),
        ("heads * a * a", "heads * (a * a)", "`a * a` has the factor `a` twice: which is which in `heads * (a * a)`?"),
        ("heads * (a | a)", "heads * (2 * a)", "`a | a` has two segments of the same factors: which is which in `heads * (2 * a)`?"),
    ],
)  # fmt: skip
def test_no_permutation(origin: str, to: str, message: str) -> None:
    with pytest.raises(FormulaError) as refused:
        permutation(parse(origin), parse(to), AXES)
    assert (refused.value.code, refused.value.message) == ("SHD230", message)


def test_terms_without_end() -> None:
    product = " * ".join(f"(a{i} | b{i})" for i in range(30))
    with pytest.raises(FormulaError, match="has over 64 terms") as refused:
        permutation(parse(product), parse(f"1 * {product}"), AXES)
    assert refused.value.code == "SHD005"
