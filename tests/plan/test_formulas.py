"""Formulas in their places: names, lets, and what may stand in a layout."""

from __future__ import annotations

import pytest

from shardc.layout.parse import parse
from shardc.layout.show import show
from shardc.plan.formulas import BROKEN, Formulas
from shardc.plan.resolved import Axis
from shardc.source import loads
from tests.plan.support import Said, said, spec
from tests.support import resolved

AXES: dict[str, Axis] = dict(
    resolved(
        spec("""\
        axes:
          kv_heads: {size: 2}
          heads: {size: 8, within: kv_heads}
          inter: {size: 16}
          experts: {size: 4, over: ep}
        groups:
          all: {tensors: {one.weight: {shape: [1], shard: replicated}}}
        """)
    ).axes
)
PATH = ("formula",)


def formulas(text: str) -> tuple[Formulas, str]:
    """For a document that holds one formula."""
    yaml = f"formula: {text}\n"
    document, findings = loads(yaml, "spec.yaml")
    assert document is not None and not findings
    return Formulas(document), yaml


def said_of_layout(text: str) -> list[Said]:
    reader, yaml = formulas(text)
    assert reader.check_shape(parse(text), PATH, AXES) is not bool(reader.findings)
    return said(reader.findings, yaml)


def test_what_cannot_be_read_is_reported_and_replaced() -> None:
    reader, yaml = formulas("hidden ** 2")
    assert reader.read("hidden ** 2", PATH) == BROKEN
    assert said(reader.findings, yaml) == [("SHD104", "`**` is not part of the language", "**")]


def test_equal_trees_are_one_object() -> None:
    reader, _ = formulas("1")
    first = reader.canonical(parse("heads * 4"))
    assert reader.canonical(parse("heads*4")) is first


def test_unknown_names_with_the_nearest_known_one() -> None:
    reader, _ = formulas("hiden * 4 + nothing")
    assert not reader.check_names(parse("hiden * 4 + nothing"), PATH, ["hidden", "heads"], "config symbols")
    assert [(f.code, f.message, f.label and f.label.text, f.help) for f in reader.findings] == [
        ("SHD103", "unknown name `hiden`", "did you mean `hidden`?", "config symbols may stand here"),
        ("SHD103", "unknown name `nothing`", "", "config symbols may stand here"),
    ]
    assert reader.check_names(parse("heads per hidden"), PATH, ["hidden", "heads"], "config symbols")


def test_lets_are_written_out() -> None:
    reader, _ = formulas("1")
    lets = reader.expand({"qk": parse("q | k"), "q": parse("heads * d"), "k": parse("kv * d")}, ("let",))
    assert {name: show(expr) for name, expr in lets.items()} == {
        "q": "heads * d", "k": "kv * d", "qk": "heads * d | kv * d",
    }  # fmt: skip


def test_lets_in_a_circle() -> None:
    reader, _ = formulas("1")
    assert reader.expand({"a": parse("b"), "b": parse("a + c"), "c": parse("2")}, ("let",)) == {
        "c": parse("2"), "a": BROKEN, "b": BROKEN,
    }  # fmt: skip
    assert [(f.code, f.message) for f in reader.findings] == [("SHD107", "`let` goes in a circle: a, b")]


def test_a_let_that_grows_too_large() -> None:
    reader, _ = formulas("1")
    lets = {f"n{i}": parse(f"n{i - 1} + n{i - 1}" if i else "x") for i in range(10)}
    out = reader.expand(lets, ("let",))
    assert [out["n7"] == BROKEN, out["n8"] == BROKEN] == [False, True]
    assert [(f.code, f.message) for f in reader.findings] == [
        ("SHD005", "with its names written out the formula has 511 parts; at most 500 are allowed")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "hidden + 4 // 2",
        "heads * (4 | 4) | kv_heads",
        "4 * (heads | kv_heads) * 2",
        "kv_heads * (heads per kv_heads * 4 | 2)",
        "experts * (inter | inter)",
    ],
)
def test_layouts(text: str) -> None:
    assert said_of_layout(text) == []


@pytest.mark.parametrize(
    ("text", "code", "message", "marked"),
    [
        ("heads * 4 + 2", "SHD203", "`heads * 4 + 2`: only `*` and `|` apply to an axis, and heads is one", "heads * 4 + 2"),
        ("4 | heads // 2", "SHD203", "`heads // 2`: only `*` and `|` apply to an axis, and heads is one", "heads // 2"),
        ("min(inter, 4)", "SHD203", "`min(inter, 4)`: only `*` and `|` apply to an axis, and inter is one", "min(inter, 4)"),
        ("2 * local(heads)", "SHD203", "`local(heads)` depends on the rank: it may stand in a contract, not in a shape", "local(heads)"),
        ("inter * (heads per inter)", "SHD203", "`heads per inter`: heads is not declared `within: inter`", "heads per inter"),
        ("heads per kv_heads * 4", "SHD203", "`heads per kv_heads` stands inside a product with kv_heads: `kv_heads * (…)`", "heads per kv_heads"),
        ("heads * inter", "SHD205", "`heads * inter`: tp would split both heads and inter in one product", "heads * inter"),
        ("4 * (heads * (inter | 2))", "SHD205", "`heads * (inter | 2)`: tp would split both heads and inter in one product", "heads * (inter | 2)"),
    ],
)  # fmt: skip
def test_what_is_no_layout(text: str, code: str, message: str, marked: str) -> None:
    assert said_of_layout(text) == [(code, message, marked)]


def test_help_of_a_product_with_a_child() -> None:
    reader, _ = formulas("1")
    reader.check_layout(parse("kv_heads * heads"), PATH, AXES)
    assert [finding.help for finding in reader.findings] == ["write `heads per kv_heads`"]


@pytest.mark.parametrize("text", ["local(2 * heads * 128)", "hidden", "max(local(heads), local(inter) // 2) + 1"])
def test_measures(text: str) -> None:
    reader, _ = formulas(text)
    assert reader.check_measured(parse(text), PATH, AXES)


@pytest.mark.parametrize(
    ("text", "message", "help"),
    [
        ("heads * 4", "`heads * 4` is a layout: its size depends on the rank", "write `local(heads * 4)`"),
        ("2 | 4", "`2 | 4` is a layout: its size depends on the rank", "write `local(2 | 4)`"),
        ("sizes[local(heads)]", "`sizes[local(heads)]`: only arithmetic applies to `local(…)`", ""),
        ("local(heads + 1)", "`heads + 1`: only `*` and `|` apply to an axis, and heads is one",
         "put heads in a segment of its own (`a | b`), or use the config symbol for its size"),
    ],
)  # fmt: skip
def test_what_is_no_measure(text: str, message: str, help: str) -> None:
    reader, _ = formulas(text)
    assert not reader.check_measured(parse(text), PATH, AXES)
    assert [(f.code, f.message, f.help) for f in reader.findings] == [("SHD203", message, help)]
