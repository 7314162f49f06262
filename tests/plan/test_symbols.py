"""Config symbols: where their values come from, and what is said where they have none."""

from __future__ import annotations

from typing import Any

import pytest

from shardc.plan.evidence import Evidence
from shardc.plan.symbols import Symbols, bind_symbols
from tests.plan.support import said, spec
from tests.support import resolved

TEXT = spec("""\
root: text_config
config:
  hidden: hidden_size
  num_heads: [num_heads, n_head]
  head_dim: {key: head_dim, else: hidden / num_heads}
  width: {key: attention.width, else: head_dim * 2}
groups:
  all: {tensors: {one.weight: {shape: [hidden], shard: replicated}}}
""")


def bind(config: dict[str, Any]) -> Symbols:
    return bind_symbols(resolved(TEXT), Evidence("config.json", config, source=lambda key: f"config.json#{key}"))


def text_config(**values: Any) -> dict[str, Any]:
    return {"text_config": values}


def test_values_and_their_sources() -> None:
    symbols = bind(text_config(hidden_size=64, n_head=4, attention={"width": 7}))
    assert symbols.values == {"hidden": 64, "num_heads": 4, "width": 7, "head_dim": 16}
    assert symbols.sources == {
        "hidden": "config.json#text_config.hidden_size",
        "num_heads": "config.json#text_config.n_head",
        "width": "config.json#text_config.attention.width",
        "head_dim": "else: hidden / num_heads",
    }
    assert symbols.findings == []


def test_null_counts_as_absent_and_an_else_may_use_another() -> None:
    symbols = bind(text_config(hidden_size=64, num_heads=8, n_head=None, head_dim=None, attention=None))
    assert symbols.values == {"hidden": 64, "num_heads": 8, "head_dim": 8, "width": 16}


def test_spellings_that_agree() -> None:
    assert bind(text_config(hidden_size=64, num_heads=8, n_head=8)).values["num_heads"] == 8


def test_false_and_zero_are_values() -> None:
    assert bind(text_config(hidden_size=0, num_heads=False, head_dim=0)).values == {
        "hidden": 0, "num_heads": False, "head_dim": 0, "width": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("config", "finding", "help"),
    [
        (
            {"hidden_size": 64},
            ("SHD108", "config has no text_config", "text_config"),
            "is this config of Example? Otherwise correct `root:`",
        ),
        (
            text_config(num_heads=8),
            ("SHD108", "config has no hidden_size", "hidden_size"),
            "is this config of Example? Otherwise give `hidden` an `else:`",
        ),
        (
            text_config(hidden_size=64),
            ("SHD108", "config has none of num_heads, n_head", "[num_heads, n_head]"),
            "is this config of Example? Otherwise give `num_heads` an `else:`",
        ),
        (
            text_config(hidden_size=64, num_heads=8, n_head=4),
            ("SHD109", "num_heads = 8 and n_head = 4 disagree: they are two spellings of one fact", "[num_heads, n_head]"),
            "correct the config",
        ),
        (
            text_config(hidden_size=64, num_heads=7),
            ("SHD110", "head_dim: hidden / num_heads = 64 / 7 is not whole", "hidden / num_heads"),
            "write `//` or `ceil(a / b)` if that is meant",
        ),
        (
            text_config(hidden_size="wide", num_heads=7),
            ("SHD112", "head_dim: hidden is a word, not a whole number", "hidden / num_heads"),
            "",
        ),
    ],
)  # fmt: skip
def test_what_is_said(config: dict[str, Any], finding: tuple[str, str, str], help: str) -> None:
    symbols = bind(config)
    assert said(symbols.findings, TEXT) == [finding]
    assert symbols.findings[0].help == help


def test_values_of_an_inexact_quotient_say_where_they_are_from() -> None:
    [finding] = bind(text_config(hidden_size=64, num_heads=7)).findings
    assert [(v.name, v.value, v.source) for v in finding.values] == [
        ("hidden", 64, "config.json#text_config.hidden_size"),
        ("num_heads", 7, "config.json#text_config.num_heads"),
    ]


def test_what_depends_on_a_missing_symbol_is_not_reported_too() -> None:
    symbols = bind(text_config(num_heads=8))
    assert symbols.values == {"num_heads": 8}
    assert len(symbols.findings) == 1


HEADERS = {"l.0.up.weight": ("BF16", (48, 64)), "l.1.up.weight": ("BF16", (48, 64))}


def bind_header(field: str, config: dict[str, Any], headers: dict[str, Any] | None = HEADERS) -> Symbols:
    text = spec(f"""\
    config: {{width: {field}}}
    groups:
      all: {{tensors: {{one.weight: {{shape: [width], shard: replicated}}}}}}
    """)
    return bind_symbols(resolved(text), Evidence("model", config, headers, source=lambda key: f"model#{key}"))


def test_a_size_that_a_header_has() -> None:
    symbols = bind_header("{tensor: l.*.up.weight, dim: 0}", {})
    assert (symbols.values["width"], symbols.sources["width"]) == (48, "model")


def test_the_config_and_a_header_are_two_spellings_of_one_fact() -> None:
    field = "{key: width, tensor: l.*.up.weight, dim: 1}"
    assert bind_header(field, {"width": 64}).values["width"] == 64
    [finding] = bind_header(field, {"width": 32}).findings
    assert (finding.code, finding.message) == (
        "SHD109", "width = 32 and dim 1 of l.0.up.weight = 64 disagree: they are two spellings of one fact",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("headers", "why"),
    [
        (None, "there are no headers"),
        ({}, "no tensor is named so and has the dim"),
        ({"l.0.up.weight": ("F32", (4,))}, "no tensor is named so and has the dim"),
    ],
)
def test_no_header_has_it(headers: dict[str, Any] | None, why: str) -> None:
    [finding] = bind_header("{tensor: l.*.up.weight, dim: 1}", {}, headers).findings
    assert (finding.code, finding.message) == ("SHD108", f"width is dim 1 of l.*.up.weight, and {why}")
    assert bind_header("{tensor: l.*.up.weight, dim: 1, else: 7}", {}, headers).values["width"] == 7
