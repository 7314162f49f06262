"""The kind that a shape implies, and which kinds may be written for it."""

from __future__ import annotations

import pytest

from shardc.layout.parse import parse
from shardc.plan.kinds import GENERAL, MEANING, agrees, axes_in, derive, specific
from tests.plan.support import spec
from tests.support import resolved

AXES = resolved(
    spec("""\
    axes:
      kv_heads: {size: 2}
      heads: {size: 8, within: kv_heads}
      inter: {size: 16}
      vocab: {size: 32}
      experts: {size: 4, over: ep}
      layers: {size: 2, over: pp}
    groups:
      all: {tensors: {one.weight: {shape: [1], shard: replicated}}}
    """)
).axes


def derived(shape: list[str], loops: tuple[str, ...] = (), swapped: bool = False) -> tuple[str, int]:
    """The kind, and how many dims lead the output dim."""
    found = derive(tuple(map(parse, shape)), loops, AXES, swapped)
    return found.kind, found.leads


@pytest.mark.parametrize(
    ("shape", "kind", "leads"),
    [
        ([], "replicated", 0),
        (["hidden"], "replicated", 0),
        (["64", "hidden"], "replicated", 0),
        (["2 | 3", "hidden"], "replicated", 0),
        (["heads"], "head_rows", 0),
        (["heads", "hidden"], "head_rows", 0),
        (["heads * 4"], "channel_rows", 0),
        (["2 * heads * 4", "hidden"], "channel_rows", 0),
        (["heads * (4 | 4)", "hidden"], "channel_rows", 0),
        (["kv_heads * (heads per kv_heads * 4 | 4 | 4)", "hidden"], "channel_rows", 0),
        (["heads * 4", "1", "conv"], "channel_rows", 0),
        (["hidden", "heads * 4"], "channel_cols", 0),
        (["hidden", "heads"], "channel_cols", 0),
        (["inter"], "column_parallel", 0),
        (["inter * 2", "hidden"], "column_parallel", 0),
        (["experts * 2", "hidden"], "column_parallel", 0),
        (["hidden", "inter"], "row_parallel", 0),
        (["hidden", "vocab"], "row_parallel", 0),
        (["hidden", "3", "inter"], "row_parallel", 0),
        (["inter | inter", "hidden"], "segmented_rows", 0),
        (["heads * 4 | 2", "hidden"], "segmented_rows", 0),
        (["4 * (heads | kv_heads)", "hidden"], "segmented_rows", 0),
        (["(heads | kv_heads) * 4", "hidden"], "segmented_rows", 0),
        (["hidden", "inter | inter"], "segmented_cols", 0),
        (["vocab", "hidden"], "vocab_rows", 0),
        (["experts"], "expert_slices", 1),
        (["experts", "hidden"], "expert_slices", 1),
        (["experts", "inter", "hidden"], "expert_slices + column_parallel", 1),
        (["experts", "hidden", "heads * 4"], "expert_slices + channel_cols", 1),
        (["experts * 2", "inter"], "column_parallel + row_parallel", 0),
        (["1", "1", "heads * 4"], "channel_rows", 2),
        (["1", "heads", "1"], "head_rows", 1),
        (["1", "hidden"], "replicated", 0),
        (["1", "inter"], "row_parallel", 0),
        (["1"], "replicated", 0),
    ],
)
def test_derived_kind(shape: list[str], kind: str, leads: int) -> None:
    assert derived(shape) == (kind, leads)


def test_experts_in_the_names() -> None:
    assert derived(["hidden", "inter"], ("experts",)) == ("expert_slices + row_parallel", 0)
    assert derived(["hidden"], ("experts",)) == ("expert_slices", 0)
    assert derived(["hidden"], ("inter",)) == ("replicated", 0)


@pytest.mark.parametrize(
    ("shape", "kind", "leads"),
    [
        (["hidden", "inter"], "column_parallel", 0),
        (["heads * 4", "hidden"], "channel_cols", 0),
        (["inter"], "column_parallel", 0),
        (["experts", "hidden", "inter | inter"], "expert_slices + segmented_rows", 1),
        (["experts", "inter", "hidden"], "expert_slices + row_parallel", 1),
    ],
)
def test_derived_kind_of_in_out(shape: list[str], kind: str, leads: int) -> None:
    assert derived(shape, swapped=True) == (kind, leads)


@pytest.mark.parametrize("kind", sorted(MEANING.keys() - {"rank0"}))
def test_a_derived_kind_may_be_written(kind: str) -> None:
    assert agrees(kind, kind)
    assert specific(kind, kind)


@pytest.mark.parametrize(
    ("written", "derived", "is_specific"),
    [
        ("rank0", "replicated", True),
        ("column_parallel", "head_rows", False),
        ("column_parallel", "channel_rows", False),
        ("row_parallel", "channel_cols", False),
        ("expert_slices + replicated", "expert_slices", True),
        ("expert_slices + rank0", "expert_slices", True),
        ("expert_slices+column_parallel", "expert_slices + channel_rows", False),
        ("expert_slices + channel_rows", "expert_slices + channel_rows", True),
    ],
)
def test_general_kinds_agree(written: str, derived: str, is_specific: bool) -> None:
    assert agrees(written, derived)
    assert specific(written, derived) is is_specific


@pytest.mark.parametrize(
    ("written", "derived"),
    [
        ("channel_rows", "head_rows"),
        ("head_rows", "channel_rows"),
        ("replicated", "column_parallel"),
        ("rank0", "column_parallel"),
        ("column_parallel", "vocab_rows"),
        ("column_parallel", "segmented_rows"),
        ("row_parallel", "column_parallel"),
        ("row_parallel", "segmented_cols"),
        ("column_parallel", "expert_slices + column_parallel"),
        ("expert_slices", "expert_slices + column_parallel"),
        ("expert_slices + column_parallel", "expert_slices"),
        ("column_parallel + expert_slices", "expert_slices + column_parallel"),
    ],
)
def test_kinds_that_disagree(written: str, derived: str) -> None:
    assert not agrees(written, derived)


def test_every_general_form_is_a_kind() -> None:
    assert {*GENERAL, *(general for forms in GENERAL.values() for general in forms)} <= MEANING.keys()


def test_axes_are_listed_outermost_first() -> None:
    assert axes_in(parse("kv_heads * (heads per kv_heads * 4 | inter)"), AXES) == ["kv_heads", "heads", "inter"]
    assert axes_in(parse("hidden * 4"), AXES) == []


def test_names_by_layer_are_no_expert_slices() -> None:
    assert derived(["heads * 4", "hidden"], ("layers",)) == ("channel_rows", 0)
    assert derived(["hidden"], ("layers",)) == ("replicated", 0)
    assert derived(["hidden", "inter"], ("layers", "experts")) == ("expert_slices + row_parallel", 0)
