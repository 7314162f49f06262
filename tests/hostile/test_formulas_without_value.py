"""Formulas that are well written and have no value: a finding, never a crash."""

from __future__ import annotations

import pytest

from tests.hostile.support import outcome

SPEC = """\
spec: 1
name: x
architectures: [X]
dtype: BF16
config: {size: size, kinds: kinds, absent: {key: absent, else: 0}}
axes: {heads: {size: SIZE}}
groups:
  all:
    at: "layers.{layer}"
    for: {layer: LOOP}
    when: WHEN
    tensors:
      w: {shape: [heads, SHAPE], shard: column_parallel}
contracts:
  - {use: aligned_rows, when: ASKED, with: {row_bytes: GIVEN}}
targets:
  - {checkpoint: toy, tp: [2]}
"""
DEFAULTS = {"SIZE": "8", "LOOP": "2", "WHEN": "true", "SHAPE": "8", "ASKED": "true", "GIVEN": "local(heads) * 16"}
NUMBERS = [
    ("size / 3", "SHD110"),
    ("size // absent", "SHD112"),
    ("size % absent", "SHD112"),
    ("ceil(size / absent)", "SHD112"),
    ("absent - 1", "SHD112"),
    ("kinds", "SHD112"),
    ("kinds[9]", "SHD112"),
    ("kinds[0]", "SHD112"),
    ("size[0]", "SHD112"),
    ("size.more", "SHD112"),
    ("size == 8", "SHD112"),
    ("'word'", "SHD112"),
    ("[1, 2]", "SHD112"),
    ("min(size, kinds)", "SHD112"),
]
CONDITIONS = [
    ("size", "SHD112"),
    ("kinds[9] == 'a'", "SHD112"),
    ("size in size", "SHD112"),
    ("kinds < 3", "SHD112"),
    ("not size", "SHD112"),
    ("size / 3 == 1", "SHD110"),
    ("size and true", "SHD112"),
]


def codes(field: str, formula: str) -> list[str]:
    text = SPEC
    for name, default in {**DEFAULTS, field: formula}.items():
        text = text.replace(name, f'"{default}"')
    found, code = outcome(text, {"size": 8, "kinds": ["a", "b"]})
    assert (code is None) == bool(found)
    return found


@pytest.mark.parametrize("field", DEFAULTS)
def test_the_spec_is_clean(field: str) -> None:
    assert codes(field, DEFAULTS[field]) == []


@pytest.mark.parametrize("field", ["SIZE", "LOOP", "SHAPE", "GIVEN"])
@pytest.mark.parametrize(("formula", "code"), NUMBERS)
def test_a_number(field: str, formula: str, code: str) -> None:
    assert codes(field, formula) == [code]


@pytest.mark.parametrize("field", ["WHEN", "ASKED"])
@pytest.mark.parametrize(("formula", "code"), CONDITIONS)
def test_a_condition(field: str, formula: str, code: str) -> None:
    assert codes(field, formula) == [code]


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("heads", "SHD203"),
        ("heads | heads", "SHD203"),
        ("heads * 2", "SHD203"),
        ("local(heads)[0]", "SHD203"),
        ("local(heads) == 2", "SHD203"),
        ("local(heads) / 3", "SHD110"),
        ("1 - local(heads)", "SHD112"),
        ("local(heads) // absent", "SHD112"),
        ("local(kinds)", "SHD112"),
    ],
)
def test_a_size_on_a_rank(given: str, code: str) -> None:
    assert codes("GIVEN", given) == [code]


def test_two_indices_over_axes_of_one_mesh_dim() -> None:
    """A rank would hold the names on a diagonal, and no rank the others."""
    text = SPEC.replace("LOOP}", "heads, other: heads}").replace("layers.{layer}", "layers.{layer}.{other}")
    for name, default in DEFAULTS.items():
        text = text.replace(name, f'"{default}"')
    assert outcome(text.replace("[heads, ", "[8, "), {"size": 8, "kinds": []}) == (["SHD205"], None)
