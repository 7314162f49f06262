"""Short forms of fields, spelt out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from shardc.spec.shorthand import dtype_form, loop_form, symbol_form, tied_form


@pytest.mark.parametrize(
    ("form", "short", "long"),
    [
        (dtype_form, "BF16", {"file": ["BF16"]}),
        (dtype_form, ["BF16", "F16"], {"file": ["BF16", "F16"]}),
        (symbol_form, "hidden_size", {"key": "hidden_size"}),
        (symbol_form, ["n_kv", "n_head_kv"], {"key": ["n_kv", "n_head_kv"]}),
        (tied_form, "embed.weight", {"name": "embed.weight"}),
        (loop_form, "layers", {"from": 0, "to": "layers"}),
        (loop_form, 4, {"from": 0, "to": 4}),
        (loop_form, 0, {"from": 0, "to": 0}),
        (loop_form, [1, "layers"], {"from": 1, "to": "layers"}),
    ],
)
def test_short_forms(form: Callable[[Any], Any], short: object, long: dict[str, object]) -> None:
    assert form(short) == long


@pytest.mark.parametrize(
    ("form", "long"),
    [
        (dtype_form, {"file": "BF16", "load": "F32"}),
        (symbol_form, {"key": "n", "else": 0}),
        (tied_form, {"name": "embed.weight", "when": "tied"}),
        (loop_form, {"of": "layers", "from": 1, "to": 2}),
        (loop_form, {"misspelt": 1}),
    ],
)
def test_long_forms_stay(form: Callable[[Any], Any], long: dict[str, object]) -> None:
    assert form(long) is long


@pytest.mark.parametrize(
    ("form", "values", "message"),
    [
        (dtype_form, [16, True, None], "`dtype` is one dtype, a list of them, or {file: …, load: …}"),
        (
            symbol_form, [4, True, None],
            "a symbol is a key of config.json, a list of its spellings, or {key: …, else: …}",
        ),
        (tied_form, [4, True, None, ["embed.weight"]], "a tensor is tied to a name, or to {name: …, when: …}"),
        (
            loop_form, [True, None, [], [1], [1, 2, 3]],
            "an index runs over a count, [from, to], an axis, or a part of one: {of: axis, from: …, to: …}",
        ),
    ],
)  # fmt: skip
def test_what_has_no_form(form: Callable[[Any], Any], values: list[object], message: str) -> None:
    for value in values:
        with pytest.raises(ValueError) as caught:
            form(value)
        assert str(caught.value) == message
