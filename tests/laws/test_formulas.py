"""A formula survives its own text, and a random text is a formula or a FormulaError, never anything else."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from shardc.layout.errors import FormulaError
from shardc.layout.evaluate import evaluate, number
from shardc.layout.expr import (
    Binary,
    Cat,
    Compare,
    Expr,
    Flag,
    Item,
    Items,
    Least,
    Length,
    Local,
    Logic,
    Member,
    Name,
    Not,
    Num,
    Per,
    Text,
)
from shardc.layout.parse import parse
from shardc.layout.show import show

_WORDS = st.sampled_from(["a", "heads", "kv_heads", "x2", "percent"])
_ARITHMETIC = ["+", "-", "*", "//", "%", "/", "ceil"]
_LEAVES = st.one_of(
    st.builds(Num, st.integers(0, 2**63 - 1)),
    st.builds(Text, st.text("ab c_per.*", max_size=6)),
    st.builds(Flag, st.booleans()),
    st.builds(Name, _WORDS),
    st.builds(Per, _WORDS, _WORDS),
)


def _concatenated(parts: tuple[Expr, ...]) -> Cat:
    """As it is read: `(a | b) | c` is `a | b | c`."""
    first, *rest = parts
    return Cat((*(first.parts if isinstance(first, Cat) else [first]), *rest))


def _grown(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Binary, st.sampled_from(_ARITHMETIC), inner, inner),
        st.builds(Least, st.sampled_from(["min", "max"]), several),
        st.builds(_concatenated, several),
        st.builds(Length, inner),
        st.builds(Local, inner),
        st.builds(Items, st.lists(inner, max_size=3).map(tuple)),
        st.builds(Item, inner, inner),
        st.builds(Member, st.builds(Name, _WORDS), _WORDS),
        st.builds(Compare, st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "in", "not in"]), inner, inner),
        st.builds(Logic, st.sampled_from(["and", "or"]), several),
        st.builds(Not, inner),
    )


_TREES = st.recursive(_LEAVES, _grown, max_leaves=12)
_NUMBERS = st.recursive(
    st.builds(Num, st.integers(0, 60)),
    lambda inner: st.builds(Binary, st.sampled_from(["+", "-", "*", "//", "%"]), inner, inner),
    max_leaves=8,
)


@given(_TREES)
def test_a_tree_survives_its_text(tree: Expr) -> None:
    text = show(tree)
    if len(text) <= 600:
        assert parse(text) == tree
        assert show(parse(text)) == text


@settings(max_examples=1000)
@given(st.one_of(st.text(max_size=30), st.text("ab09 .,:|*/%()[]{}<=>'\"#\\_-+\n", max_size=30)))
def test_any_text_is_a_formula_or_none(text: str) -> None:
    try:
        tree = parse(text)
    except FormulaError as error:
        start, stop = error.at
        assert error.code == "SHD104"
        assert 0 <= start <= stop <= len(text)
    else:
        assert parse(show(tree)) == tree
        assert 0 <= tree.at[0] < tree.at[1] <= len(text)


@given(_TREES)
def test_a_tree_has_a_value_or_a_formula_error(tree: Expr) -> None:
    values = {"a": 3, "heads": [1, 2], "kv_heads": {"a": 1}, "x2": None, "percent": "word"}
    try:
        evaluate(tree, values)
    except FormulaError as error:
        assert error.code in ("SHD103", "SHD110", "SHD112", "SHD203")


@given(_NUMBERS)
def test_numbers_are_those_of_python(tree: Expr) -> None:
    try:
        value = number(tree, {})
    except FormulaError:
        return
    assert value == eval(show(tree), {"__builtins__": {}})
