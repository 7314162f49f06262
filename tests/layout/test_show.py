import pytest

from shardc.layout.expr import Binary, Cat, Name, Num
from shardc.layout.parse import parse
from shardc.layout.show import show


@pytest.mark.parametrize(
    "text",
    [
        "a", "3", "True", "'x y'", "[1, 'b']", "a + b - c", "a - (b - c)", "a * (b + c)", "a * b * c", "a * (b * c)",
        "a // b % c", "a / (b / c)", "ceil(a / b)", "ceil((a + 1) / (b * c))", "min(a, b + 1)", "len(a)", "local(a | b)",
        "a | b * c", "(a | b) * c", "a | (b | c)", "a per b", "a per b * c", "b * (a per b * c | c | c)",
        "a[b + 1]", "a[0].c.d", "(a + b)[0]", "a == 'x'", "(a < b) == c", "a in [1, 2]", "a not in b",
        "not a", "not not a", "not (a and b)", "a and b or c", "a and (b or c)", "(a or b) and c", "not a == b",
    ],
)  # fmt: skip
def test_one_spelling_for_each_tree(text: str) -> None:
    assert show(parse(text)) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("(a*b)+c", "a * b + c"),
        ("((a))", "a"),
        ("true", "True"),
        ('"x"', "'x'"),
        ("(1, 2)", "[1, 2]"),
        ("ceil((a)/(b))", "ceil(a / b)"),
        ("a  per  b", "a per b"),
        ("(a | b) | c", "a | b | c"),
        ("not (a)", "not a"),
    ],
)
def test_spellings_of_one_tree(text: str, shown: str) -> None:
    assert show(parse(text)) == shown


def test_names_can_be_spelt_otherwise() -> None:
    assert show(parse("heads per kv * d | e[i]"), str.upper) == "HEADS per KV * D | E[I]"


def test_the_segments_of_a_let_keep_their_brackets() -> None:
    assert show(Cat((Cat((Name("a"), Name("b"))), Num(1)))) == "(a | b) | 1"
    assert show(Binary("*", Cat((Name("a"), Name("b"))), Num(2))) == "(a | b) * 2"
