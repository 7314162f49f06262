"""Formulas that have no value in one config, shown where they stand."""

from __future__ import annotations

from typing import Any

import pytest

from shardc.diagnostics import Diagnostic
from tests.plan.support import Said, said, spec
from tests.support import bound

SPEC = spec("""\
config: {n: n, m: m, widths: widths, layers: layers, first: first}
let: {third: n / 3}
axes:
  inter: {size: n * 2}
groups:
  top:
    tensors:
      plain.weight: {shape: [n // 2, m - 4], shard: replicated}
      third.weight: {shape: [third * 2], shard: replicated}
      inter.weight: {shape: [inter * 2], shard: column_parallel}
  layers:
    at: layers.{layer}
    for: {layer: layers}
    when: first < layer
    let: {half: m / 2}
    axes: {own: {size: layer % m}}
    tensors:
      own.weight: {shape: [own], shard: column_parallel}
      up.weight: {shape: [half, 4], shard: replicated}
      down.weight: {shape: [4, half], shard: replicated, when: first // m == 0}
""")
CONFIG = {"n": 12, "m": 8, "layers": 2, "first": 0, "widths": [4]}


def findings(**config: Any) -> list[Diagnostic]:
    return bound(SPEC, {**CONFIG, **config}).findings


def test_all_have_values() -> None:
    assert findings() == []


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        pytest.param(
            {"n": 13}, [("SHD110", "third.weight: `n / 3` = 13 / 3 is not whole", "n / 3")], id="in a let of the spec"
        ),
        pytest.param(
            {"m": 7}, [("SHD110", "layers.{layer}.up.weight: `m / 2` = 7 / 2 is not whole", "m / 2")],
            id="in a let of the group",
        ),
        pytest.param(
            {"m": 2},
            [("SHD112", "plain.weight: `m - 4` = -2 is not a size (0 or more, below 2**53)", "m - 4")], id="in a shape",
        ),
        pytest.param(
            {"layers": -1},
            [("SHD112", "layers.{layer}.own.weight: `layers` = -1 is not a size (0 or more, below 2**53)", "layers")],
            id="in a loop",
        ),
        pytest.param(
            {"first": -2},
            [("SHD112", "layers.{layer}.down.weight: `first` = -2 is not a size (0 or more, below 2**53)", "first")],
            id="in a condition of the tensor",
        ),
        pytest.param(
            {"first": "zero"},
            [("SHD112", "layers.{layer}.own.weight: `first < layer`: a word and a number can't be ordered", "first < layer")],
            id="in a condition of the group",
        ),
    ],
)  # fmt: skip
def test_where_it_is_shown(config: dict[str, Any], expected: list[Said]) -> None:
    assert said(findings(**config), SPEC) == expected


def test_values_help_and_what_else_it_stops() -> None:
    [finding] = findings(m=7)
    assert [(value.name, value.value, value.source) for value in finding.values] == [("m", 7, "m")]
    assert finding.help == "write `//` or `ceil(a / b)` if that is meant"
    assert finding.same_cause == ("layers.{layer}.down.weight (line 24)",)


def test_help_where_the_formula_has_none_of_its_own() -> None:
    [finding] = findings(m=2)
    assert finding.help == "correct the formula, or the config that it reads"


def test_the_size_of_an_axis() -> None:
    text = SPEC.replace("{size: n * 2}", "{size: n / 5}").replace("n / 3", "n // 3")
    assert said(bound(text, CONFIG).findings, text) == [
        ("SHD110", "inter.weight: `n / 5` = 12 / 5 is not whole", "n / 5")
    ]


def test_the_size_of_an_axis_of_a_group() -> None:
    assert said(findings(m=0, first=0), SPEC)[1:] == [
        ("SHD112", "layers.{layer}.own.weight: `layer % m` divides by 0", "layer % m"),
        ("SHD112", "layers.{layer}.down.weight: `first // m` divides by 0", "first // m"),
    ]


def test_the_condition_of_a_tie() -> None:
    text = SPEC.replace("[third * 2], shard: replicated", "[n], shard: replicated, tied_to: {name: v, when: m}")
    assert said(bound(text, CONFIG).findings, text) == [
        ("SHD112", "third.weight: `m` is a number, not true or false", "m")
    ]
