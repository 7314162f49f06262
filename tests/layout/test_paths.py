"""Which axes select a row, for each kind of row of a layout."""

from __future__ import annotations

import pytest

from shardc.layout.parse import parse
from shardc.layout.paths import paths

AXES = {"heads", "kv_heads", "experts"}


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        ("heads", [{"heads"}]),
        ("head_dim", [set()]),
        ("4", [set()]),
        ("kv_lora + rope", [set()]),
        ("heads * head_dim", [{"heads"}]),
        ("2 * heads", [{"heads"}]),
        ("heads | 2", [{"heads"}, set()]),
        ("heads | heads", [{"heads"}]),
        ("heads * 2 | kv_heads | kv_heads", [{"heads"}, {"kv_heads"}]),
        ("heads * (3 | 2)", [{"heads"}]),
        ("experts * heads", [{"experts", "heads"}]),
        ("experts * (heads | 2)", [{"experts", "heads"}, {"experts"}]),
        ("(experts | 1) * (heads | 2)", [{"experts", "heads"}, {"experts"}, {"heads"}, set()]),
        ("kv_heads * (heads per kv_heads * 8 | 3)", [{"kv_heads", "heads"}, {"kv_heads"}]),
        ("local(heads)", [set()]),
    ],
)
def test_paths(layout: str, expected: list[set[str]]) -> None:
    assert paths(parse(layout), AXES) == {frozenset(path) for path in expected}
