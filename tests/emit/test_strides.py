"""The parts of concatenations inside a product, as code: run, it gives the numbers that the compiler computes."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from shardc.emit.dims import Dims
from shardc.emit.strides import nested_parts
from shardc.layout import nested
from shardc.layout.expr import substitute
from shardc.layout.parse import parse
from shardc.plan.bound import Bound
from tests.plan.support import spec
from tests.support import bound

SIZES = {"n_kv": 4, "n_heads": 16, "head_dim": 6}
TEXT = spec("""\
config: {n_kv: n_kv, n_heads: n_heads, head_dim: head_dim}
axes:
  kv_heads: {size: n_kv}
  heads: {size: n_heads, within: kv_heads}
let: {group: heads per kv_heads * head_dim | head_dim | 2, k: kv_heads * head_dim}
groups:
  all: {tensors: {w: {shape: [heads * head_dim], shard: channel_rows}}}
""")


@pytest.fixture(scope="module")
def one() -> Bound:
    return bound(TEXT, SIZES)


@pytest.mark.parametrize(
    ("layout", "parts"),
    [
        ("k", []),
        ("heads * head_dim | k", []),
        ("kv_heads * (heads per kv_heads * head_dim | head_dim)", [24, 6]),
        ("kv_heads * group", [24, 6, 2]),
        ("kv_heads * (group | 3)", [32, 24, 6, 2, 3]),
        ("k | kv_heads * (1 | 5) * head_dim", [6, 30]),
    ],
)
def test_parts(layout: str, parts: list[int], one: Bound) -> None:
    lets = one.resolved.lets
    dims = Dims(one.resolved.axes, lets)
    axes = {axis: SimpleNamespace(size=SIZES[size]) for axis, size in (("kv_heads", "n_kv"), ("heads", "n_heads"))}
    code = [dims.code(size) for size in nested_parts(parse(layout), dims)]
    assert [eval(text, {**SIZES, **axes, "group": 32, "k": 24}) for text in code] == parts
    assert list(nested.nested_parts(substitute(parse(layout), lets), one.families[0].scope)) == parts
