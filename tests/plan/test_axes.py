"""Axes as declared: roles, parents, order."""

from __future__ import annotations

import pytest

from shardc.layout.split import Dealing
from shardc.plan.resolved import Axis
from tests.plan.support import said_of, spec
from tests.support import resolved

GROUPS = "groups: {all: {tensors: {one.weight: {shape: [1], shard: replicated}}}}\n"


def text(*axes: str) -> str:
    return spec("axes:\n" + "".join(f"  {axis}\n" for axis in axes) + GROUPS)


def read(*axes: str) -> dict[str, Axis]:
    return dict(resolved(text(*axes)).axes)


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("heads", "heads"),
        ("kv_heads", "heads"),
        ("ssm_groups", "heads"),
        ("groups", "heads"),
        ("vocab", "vocab"),
        ("vocab_rows", "vocab"),
        ("experts", "experts"),
        ("shared_experts", "experts"),
        ("layers", "layers"),
        ("dense_layers", "layers"),
        ("layers_inter", "plain"),
        ("experts_inter", "plain"),
        ("inter", "plain"),
        ("headspace", "plain"),
    ],
)
def test_the_role_is_read_off_the_name(name: str, role: str) -> None:
    assert read(f"{name}: {{size: 4}}")[name].role == role


def test_a_role_that_is_given() -> None:
    assert read("channels: {size: 4, role: heads}")["channels"].role == "heads"


def test_how_an_axis_is_dealt() -> None:
    axis = read("inter: {size: 4, over: ep, granule: 2, if_uneven: ceil, if_fewer: replicate, pad_local_to: 8}")[
        "inter"
    ]
    assert axis.over == "ep"
    assert axis.how == Dealing(2, "ceil", "replicate", "blocked", None, 8)
    assert axis.path == ("axes", "inter")
    assert read("vocab: {size: 4, pad_to: 64}")["vocab"].how == Dealing(pad_to=64)
    assert read("experts: {size: 4, placement: round_robin}")["experts"].how == Dealing(placement="round_robin")


def test_a_child_follows_its_parent_and_stands_after_it() -> None:
    axes = read(
        "deep: {size: 16, within: heads}", "heads: {size: 8, within: kv_heads}", "kv_heads: {size: 2, over: ep}"
    )
    assert [(axis.name, axis.within, axis.over) for axis in axes.values()] == [
        ("kv_heads", None, "ep"),
        ("heads", "kv_heads", "ep"),
        ("deep", "heads", "ep"),
    ]


def test_a_child_of_a_group_in_an_axis_of_the_spec() -> None:
    one = spec("""\
    axes:
      kv_heads: {size: 2, over: ep}
    groups:
      all:
        axes: {heads: {size: 8, within: kv_heads}}
        tensors: {one.weight: {shape: [heads], shard: head_rows}}
    """)
    [entry] = resolved(one).entries
    assert entry.axes["heads"].over == "ep"
    assert entry.axes["heads"].path == ("groups", "all", "axes", "heads")


def test_parents_in_a_circle() -> None:
    axes = ("a: {size: 2, within: c}", "b: {size: 2, within: a}", "c: {size: 2, within: b}", "d: {size: 2}")
    assert said_of(text(*axes)) == [("SHD107", "`within` goes in a circle: a, b, c", "{size: 2, within: c}")]


def test_a_parent_that_is_none() -> None:
    one = text("heads: {size: 8, within: kv}", "inter: {size: 4}")
    assert said_of(one) == [("SHD103", "unknown axis `kv`", "kv")]


def test_a_size_knows_symbols_only() -> None:
    assert said_of(text("heads: {size: 8}", "inter: {size: heads * 2}")) == [
        ("SHD103", "unknown name `heads`", "heads")
    ]
