"""What `only` may keep to the ends of a mesh dim."""

from __future__ import annotations

import pytest

from shardc.rules.stages import check
from tests.plan.support import Said, said, spec
from tests.support import resolved

SPEC = """\
axes:
  layers: {size: 4, over: pp}
  inter: {size: 8}
groups:
  all:
    only: ON
    tensors:
      plain: {shape: [4], shard: replicated}
      bias: {shape: [4], shard: rank0}
      up: {shape: [inter], shard: column_parallel}
  own:
    tensors:
      other: {shape: [4], shard: replicated, only: OWN}
  layers:
    at: "{layer}"
    for: {layer: layers}
    tensors:
      norm: {shape: [4], shard: replicated}
"""


def said_of(on: str = "{}", own: str = "{}") -> list[Said]:
    text = spec(SPEC.replace("ON", on).replace("OWN", own))
    return said(check(resolved(text)), text)


@pytest.mark.parametrize("only", ["{}", "{pp: first}", "{pp: [first, last]}"])
def test_what_is_right(only: str) -> None:
    assert said_of(only, only) == []


def test_each_place_is_told_of_once() -> None:
    assert said_of("{stage: first, cp: last}", "{stage: first}") == [
        ("SHD103", "no axis is over `stage`", "stage"),
        ("SHD103", "no axis is over `cp`", "cp"),
        ("SHD103", "no axis is over `stage`", "stage"),
    ]


def test_a_mesh_dim_that_splits_a_dim_of_the_tensor() -> None:
    text = spec(SPEC.replace("ON", "{tp: last}").replace("OWN", "{tp: last}").replace("rank0", "replicated"))
    assert said(check(resolved(text)), text) == [
        ("SHD205", "tp splits its dim 0 (inter), and `only` keeps up to the last rank", "tp")
    ]


def test_rank0_is_a_split_too() -> None:
    assert said_of("{tp: [first, last]}")[0] == (
        "SHD205", "tp splits it (rank0), and `only` keeps bias to the first and the last rank", "tp"
    )  # fmt: skip
