"""Formulas as Python: every node, the precedence of operators, and text that would like to be code."""

from __future__ import annotations

import ast

import pytest

import shardc.runtime as rt
from shardc.diagnostics import ShardcBug
from shardc.emit.python import code, identifier, quote
from shardc.layout.evaluate import evaluate
from shardc.layout.parse import parse
from shardc.spec.library import contract_file, contract_names


@pytest.mark.parametrize(
    ("formula", "python"),
    [
        ("7", "7"),
        ("true", "True"),
        ("hidden", "hidden"),
        ("a + b - 1", "a + b - 1"),
        ("a * b // d % e", "a * b // d % e"),
        ("a / b", "rt.exact(a, b)"),
        ("ceil(a / 128)", "rt.ceil_div(a, 128)"),
        ("min(a, b, 3)", "min(a, b, 3)"),
        ("max(a, b)", "max(a, b)"),
        ("len(layer_types)", "len(layer_types)"),
        ("layer_types[layer]", "layer_types[layer]"),
        ("blocks[layer].n_kv", 'blocks[layer]["n_kv"]'),
        ("layer_types[layer] == 'full attention'", 'layer_types[layer] == "full attention"'),
        ("a != 1", "a != 1"),
        ("a < 1", "a < 1"),
        ("a <= 1", "a <= 1"),
        ("a > 1", "a > 1"),
        ("a >= 1", "a >= 1"),
        ("layer in dense", "layer in dense"),
        ("layer not in [0, 1]", "layer not in [0, 1]"),
        ("a and b or not d", "(a and b) or not d"),
        ("a or b and d", "a or (b and d)"),
    ],
)
def test_every_node(formula: str, python: str) -> None:
    assert code(parse(formula)) == python


@pytest.mark.parametrize(
    "formula",
    [
        "a - (b - c)", "(a - b) - c", "a * (b + c)", "a // (b // c)", "(a % b) * c", "a % (b * c)",
        "a / (b + c) * d", "ceil((a + b) / (c + 1))", "min(a + b, c) * d", "[a, b][b - b]",
    ],
)  # fmt: skip
def test_brackets_are_kept_where_they_matter(formula: str) -> None:
    values = {"a": 60, "b": 4, "c": 2, "d": 7}
    assert eval(code(parse(formula), str), {"rt": rt}, values) == evaluate(parse(formula), values)


@pytest.mark.parametrize(
    "formula", ["not (a and b)", "(a or b) and c", "not a == b", "(not a) == b", "a and (b or c)", "a and b or c"]
)
def test_brackets_of_conditions(formula: str) -> None:
    for bits in range(8):
        values = {"a": bool(bits & 1), "b": bool(bits & 2), "c": bool(bits & 4)}
        assert eval(code(parse(formula), str), {}, values) == evaluate(parse(formula), values)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain",
        '"',
        "'",
        "\\",
        '"); import os; ("',
        "{layer}",
        "\n",
        "\r",
        "\0",
        "\u2028",
        "\u202e",
        "é",
        "𝕩",
        "\x7f",
    ],
)
def test_a_literal_is_its_text_and_one_line_of_ascii_or_printable_characters(text: str) -> None:
    literal = quote(text)
    assert ast.literal_eval(literal) == text
    assert literal.isprintable()
    assert len(literal.splitlines()) == 1


def test_words_in_a_formula_are_literals() -> None:
    text = code(parse("kind == '\"); import os #'"))
    (compared,) = ast.parse(text, mode="eval").body.comparators  # type: ignore[attr-defined]
    assert isinstance(compared, ast.Constant)
    assert compared.value == '"); import os #'


@pytest.mark.parametrize("name", ["at", "c", "config", "granule", "max", "mesh", "range", "region", "rt", "lambda"])
def test_a_name_that_the_module_uses_is_respelt(name: str) -> None:
    assert identifier(name) == f"{name}_"


def test_other_names_stay() -> None:
    assert [identifier(name) for name in ("hidden", "i", "tp", "torch", "type")] == [
        "hidden",
        "i",
        "tp",
        "torch",
        "type",
    ]


def test_no_parameter_of_a_contract_is_spelt_like_a_respelt_name() -> None:
    """Both get a `_`: `n_` holds the contract's n."""
    parameters = {name for contract in contract_names() for name in contract_file(contract).parameters}
    assert {name for name in parameters if identifier(name) != name} == set()


@pytest.mark.parametrize("layout", ["a | b", "heads per kv_heads", "local(a)"])
def test_a_layout_is_no_number(layout: str) -> None:
    with pytest.raises(ShardcBug, match="a layout stands where a number is emitted"):
        code(parse(layout))
