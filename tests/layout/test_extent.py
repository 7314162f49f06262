"""How large a formula is once its names are written out, and how large it may be."""

from __future__ import annotations

import pytest

from shardc.layout.errors import FormulaError
from shardc.layout.expr import substitute
from shardc.layout.extent import Extent, check_extent, extent
from shardc.layout.parse import parse


@pytest.mark.parametrize(
    ("formula", "parts", "depth"),
    [
        ("4", 1, 1),
        ("hidden", 1, 1),
        ("heads per kv_heads", 1, 1),
        ("a * b", 3, 2),
        ("a | b | c", 4, 2),
        ("a * b * c * d", 7, 4),
        ("a * (b * (c * d))", 7, 4),
        ("(a * b) | (c * d)", 7, 3),
        ("min(a, b, 3)", 4, 2),
        ("local(a * 2)", 4, 3),
        ("types[layer] == 'full' and not flag", 8, 4),
    ],
)
def test_extent(formula: str, parts: int, depth: int) -> None:
    assert extent(parse(formula)) == Extent(parts, depth)


def test_names_are_as_large_as_what_they_stand_for() -> None:
    """The extent of `q * q | k` without writing it out is that of the formula written out."""
    q, k = parse("heads * head_dim | 1"), parse("min(a, b)")
    formula = parse("q * q | k | other")
    foreseen = extent(formula, {"q": extent(q), "k": extent(k)})
    assert foreseen == extent(substitute(formula, {"q": q, "k": k})) == Extent(16, 5)


def test_the_largest_that_is_allowed() -> None:
    check_extent(Extent(500, 64))


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (Extent(501, 2), "with its names written out the formula has 501 parts; at most 500 are allowed"),
        (Extent(500, 65), "with its names written out the formula is nested 65 deep; at most 64 is allowed"),
        (Extent(501, 65), "with its names written out the formula has 501 parts; at most 500 are allowed"),
    ],
)
def test_larger(found: Extent, message: str) -> None:
    with pytest.raises(FormulaError) as caught:
        check_extent(found)
    assert (caught.value.code, caught.value.message) == ("SHD005", message)
    assert caught.value.help == "use config symbols for what is a plain number"
