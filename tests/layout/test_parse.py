import pytest

from shardc.layout.errors import FormulaError
from shardc.layout.expr import (
    Binary,
    Cat,
    Compare,
    Expr,
    Flag,
    Has,
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

A, B, C, ONE, TWO = Name("a"), Name("b"), Name("c"), Num(1), Num(2)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("0", Num(0)),
        ("a", A),
        ("true", Flag(True)),
        ("False", Flag(False)),
        ("'x y'", Text("x y")),
        ('"per"', Text("per")),
        ("a * b + c", Binary("+", Binary("*", A, B), C)),
        ("a - b - c", Binary("-", Binary("-", A, B), C)),
        ("a // b % c", Binary("%", Binary("//", A, B), C)),
        ("a / 2", Binary("/", A, TWO)),
        ("ceil(a / 2)", Binary("ceil", A, TWO)),
        ("min(a, b, 2)", Least("min", (A, B, TWO))),
        ("max(a, b)", Least("max", (A, B))),
        ("len(a)", Length(A)),
        ("local(2 * a)", Local(Binary("*", TWO, A))),
        ("a | b | c", Cat((A, B, C))),
        ("a | (b | c)", Cat((A, Cat((B, C))))),
        ("a * (b | c)", Binary("*", A, Cat((B, C)))),
        ("a + b | c", Cat((Binary("+", A, B), C))),
        ("a per b", Per("a", "b")),
        ("a per b * c", Binary("*", Per("a", "b"), C)),
        ("c * a per b", Binary("*", C, Per("a", "b"))),
        ("b * (a per b * c | 2)", Binary("*", B, Cat((Binary("*", Per("a", "b"), C), TWO)))),
        ("a[1]", Item(A, ONE)),
        ("a[b + 1].c", Member(Item(A, Binary("+", B, ONE)), "c")),
        ("a == 'x'", Compare("==", A, Text("x"))),
        ("a[b] != c", Compare("!=", Item(A, B), C)),
        ("a <= 2", Compare("<=", A, TWO)),
        ("a in [1, 2]", Compare("in", A, Items((ONE, TWO)))),
        ("a not in (1, 2)", Compare("not in", A, Items((ONE, TWO)))),
        ("not a and b or c", Logic("or", (Logic("and", (Not(A), B)), C))),
        ("not has('l.{a}.w')", Not(Has("l.{a}.w"))),
        ("  a *\n  b ", Binary("*", A, B)),
    ],
)
def test_trees(text: str, tree: Expr) -> None:
    assert parse(text) == tree


def test_columns() -> None:
    tree = parse("  heads * (a per b)")
    assert isinstance(tree, Binary)
    assert (tree.at, tree.left.at, tree.right.at) == ((2, 19), (2, 7), (11, 18))


@pytest.mark.parametrize(
    ("text", "part", "at"),
    [
        ("a ** 2", "**", (2, 4)),
        ("a # b", "#", (2, 3)),
        ("a #\n * b", "#", (2, 3)),
        ("é * 2", "é", (0, 1)),
        ("a\u202e", "\u202e", (1, 2)),
        ("0x10", "0x10", (0, 4)),
        ("a * 1_000", "1_000", (4, 9)),
        ("017", "017", (0, 3)),
        ("1e5", "1e5", (0, 3)),
        ("1.5", "1.5", (0, 3)),
        ("1j", "1j", (0, 2)),
        ("-1", "-1", (0, 2)),
        ("a + -b", "-b", (4, 6)),
        ("~a", "~", (0, 1)),
        ("a @ b", "@", (2, 3)),
        ("a ^ b", "^", (2, 3)),
        ("a & b", "&", (2, 3)),
        ("a << 2", "a << 2", (0, 6)),
        ("a is b", "a is b", (0, 6)),
        ("a < b < c", "a < b < c", (0, 9)),
        ("a if b else c", "a if b else c", (0, 13)),
        ("lambda: 0", ":", (6, 7)),
        ("(a := 1)", ":", (3, 4)),
        ("a[1:2]", ":", (3, 4)),
        ("{1}", "{", (0, 1)),
        ("f'{a}'", "f", (0, 1)),
        ("b'x'", "b", (0, 1)),
        ("'a\\'b'", "'", (0, 1)),
        ("'''a'''", "'", (0, 1)),
        ("'a' 'b'", "'", (0, 1)),
        ("'a", "'", (0, 1)),
        ("None", "None", (0, 4)),
        ("...", "...", (0, 3)),
        ("[x for x in a]", "[x for x in a]", (0, 14)),
        ("await a", "await a", (0, 7)),
        ("min(a, key=b)", "min(a, key=b)", (0, 13)),
        ("a.b(c)", "a.b(c)", (0, 6)),
        ("a.__class__", "a.__class__", (0, 11)),
        ("[*a]", "*a", (1, 3)),
        ("a per b per c", "a per b per c", (0, 13)),
        ("a per 2", "a per 2", (0, 7)),
        ("(a * b) per c", "(a * b) per c", (0, 13)),
        ("9223372036854775808", "9223372036854775808", (0, 19)),
    ],
)
def test_refused(text: str, part: str, at: tuple[int, int]) -> None:
    with pytest.raises(FormulaError) as caught:
        parse(text)
    error = caught.value
    assert (error.code, error.message, error.at) == ("SHD104", f"`{part}` is not part of the language", at)


@pytest.mark.parametrize(
    ("text", "message", "at"),
    [
        ("", "the formula is empty", (0, 0)),
        ("  ", "the formula is empty", (0, 2)),
        (" a)", "` a)` is not a formula", (2, 3)),
        ("ceil(a)", "`ceil` takes one quotient: `ceil(a / b)`", (0, 7)),
        ("2 * ceil(a // b)", "`ceil` takes one quotient: `ceil(a / b)`", (4, 16)),
        ("min(a)", "no function `min` of 1 values; there are ceil, min, max, len, local, has", (0, 6)),
        ("local(a, b)", "no function `local` of 2 values; there are ceil, min, max, len, local, has", (0, 11)),
        (
            "__import__('os')",
            "no function `__import__` of 1 values; there are ceil, min, max, len, local, has",
            (0, 16),
        ),
        ("has(a)", "`has` takes the name of one tensor: `has('lm_head.weight')`", (0, 6)),
        ("has('a b')", "`has` takes the name of one tensor: `has('lm_head.weight')`", (0, 10)),
        ("eval('1')", "no function `eval` of 1 values; there are ceil, min, max, len, local, has", (0, 9)),
        ("a" * 601, "a formula has at most 600 characters, this one 601", (0, 600)),
        ("+".join("a" * 101), "a formula has at most 200 parts", (0, 201)),
    ],
)
def test_refused_with_a_reason(text: str, message: str, at: tuple[int, int]) -> None:
    with pytest.raises(FormulaError) as caught:
        parse(text)
    assert (caught.value.code, caught.value.message, caught.value.at) == ("SHD104", message, at)


@pytest.mark.parametrize("text", ["a +", "a = b", "a b", "a)", "(", "|", "a | | b", "a per", "per a", "[a", "a.", "*a"])
def test_broken(text: str) -> None:
    with pytest.raises(FormulaError) as caught:
        parse(text)
    assert (caught.value.code, caught.value.message) == ("SHD104", f"`{text}` is not a formula")


@pytest.mark.parametrize(
    "text",
    [
        "(" * 10_000 + "a" + ")" * 10_000,
        "(" * 299 + "a" + ")" * 299,
        "[" * 599,
        "not " * 149 + "(a",
        "-" * 599 + "1",
        "9" * 600,
        "9" * 5_000,
        "a." * 299 + "__globals__",
        "a[" * 200 + "0" + "]" * 200,
        "().__class__.__bases__[0].__subclasses__()",
        "[x := 1, x]",
        "(yield)",
        "f'{__import__(\"os\")}'",
        "a\x00b",
        "a; b",
        "import os",
        "print(a)\n",
        "\\\n",
        "\t\x0c",
    ],
)
def test_hostile_text_is_only_a_formula_error(text: str) -> None:
    with pytest.raises(FormulaError) as caught:
        parse(text)
    start, stop = caught.value.at
    assert 0 <= start <= stop <= len(text)
