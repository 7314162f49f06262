"""The code of a dim, run for each rank, gives the regions that the compiler computes."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import shardc.runtime as rt
from shardc.emit.brackets import flat
from shardc.emit.dims import Dims
from shardc.layout.expr import Local
from shardc.layout.regions import local_size, regions, size
from shardc.plan.compile import compile_plan
from shardc.plan.plan import Plan
from tests.support import bound

CONFIG = {"n_kv": 4, "n_heads": 16, "head_dim": 6, "inter": 30, "vocab_size": 75, "n_experts": 4, "k": 3, "i": 2}
SPEC = """\
spec: 1
name: dims
architectures: [Dims]
dtype: F32
config:
  n_kv: n_kv
  n_heads: n_heads
  head_dim: head_dim
  inter: inter
  vocab_size: vocab_size
  n_experts: n_experts
  k: k
  i: i
axes:
  kv_heads: {size: n_kv, if_fewer: replicate}
  heads:    {size: n_heads, within: kv_heads}
  mlp:      {size: inter, if_uneven: ceil}
  sub:      {size: 2 * inter, within: mlp}
  vocab:    {size: vocab_size, pad_to: 8}
  tiles:    {size: n_heads, pad_local_to: 16}
  shared:   {size: n_kv, if_fewer: replicate, pad_local_to: 2}
  of:       {size: n_heads, within: shared}
  experts:  {size: n_experts, over: ep}
  turns:    {size: inter, placement: round_robin, if_uneven: spread}
  rows:     {size: 3 * inter, within: turns}
  pairs:    {size: inter, over: ep, granule: 4, placement: round_robin, if_uneven: spread}
let:
  q: heads * head_dim
  kv: kv_heads * head_dim
  both: q | kv
groups:
  all:
    tensors:
      w: {shape: ["LAYOUT"], shard: replicated}
"""
LAYOUTS = [
    "heads",
    "heads * head_dim",
    "head_dim * heads",
    "q | kv | kv",
    "both",
    "4 * both",
    "both | 5 | q",
    "4 * (q | kv | kv)",
    "2 * (3 * (2 * (2 * (heads | kv_heads))))",
    "i * (k * (i * heads | kv))",
    "i * (i * (heads | 1))",
    "(2 * (heads | 1)) * 3",
    "kv_heads * (heads per kv_heads * head_dim | head_dim | head_dim)",
    "kv_heads * (head_dim | heads per kv_heads | heads per kv_heads * 2)",
    "kv_heads * (i | heads per kv_heads * k)",
    "vocab",
    "vocab * 3 | vocab",
    "2 * (vocab | 5)",
    "mlp * 2",
    "mlp | mlp",
    "3 * mlp",
    "mlp * (sub per mlp * 2 | 1)",
    "sub | mlp",
    "tiles * head_dim | heads",
    "shared * (of per shared * 2 | 1)",
    "turns",
    "turns * head_dim",
    "2 * turns | 5 | turns",
    "turns * (rows per turns * 2 | 1)",
    "rows | 3",
    "pairs * (heads | head_dim)",
    "pairs * (turns | 1)",
    "2 * (pairs * (2 * (turns | 1)))",
    "experts * (heads | head_dim)",
    "experts * (vocab | 1)",
    "(2 * (experts | experts)) * (heads | 1)",
    "(experts | 1) * (2 * (mlp | 1))",
]


def planned(layout: str, mesh: dict[str, int]) -> Plan:
    plan = compile_plan(bound(SPEC.replace("LAYOUT", layout), CONFIG), mesh).plan
    assert plan is not None
    return plan


@pytest.mark.parametrize("mesh", [{"tp": tp, "ep": ep} for tp in (1, 2, 4, 8, 16) for ep in (1, 2)], ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_code_and_compiler_agree(layout: str, mesh: dict[str, int]) -> None:
    plan = planned(layout, mesh)
    resolved = plan.bound.resolved
    (entry,) = resolved.entries
    dims = Dims(resolved.axes, resolved.lets)
    written = dims.regions(entry.written[0])
    assert written is not None
    code = compile(flat(written), "regions", "eval")
    full = compile(dims.size(entry.written[0]), "size", "eval")
    local = compile(dims.code(dims.local(Local(entry.written[0]))), "local", "eval")
    (family,) = plan.families
    for rank in plan.ranks():
        names = {**CONFIG, "rt": rt, **axes(plan, rank)}
        names |= {name: eval(dims.size(expr), {}, names) for name, expr in resolved.lets.items()}
        scope = plan.scope(family, rank)
        wanted = regions(entry.dims[0], scope)
        assert rt.normalise(eval(code, names)) == wanted, (layout, rank, flat(written))
        assert eval(full, names) == size(entry.dims[0], scope)
        assert eval(local, names) == local_size(wanted)


def axes(plan: Plan, rank: dict[str, int]) -> dict[str, SimpleNamespace]:
    """The axes of a rank as the generated code sees them."""
    out = {}
    for (name, _), split in plan.splits.items():
        share = split.shares[rank[split.over]]
        out[name] = SimpleNamespace(
            size=split.size, start=share.start, stop=share.stop, pad=share.pad, local=share.local, runs=list(share.runs)
        )
    return out


def written(layout: str) -> str | None:
    resolved = bound(SPEC.replace("LAYOUT", layout), CONFIG).resolved
    code = Dims(resolved.axes, resolved.lets).regions(resolved.entries[0].written[0])
    return None if code is None else flat(code)


def test_a_dim_without_an_axis_is_whole() -> None:
    assert written("n_heads * head_dim") is None


def test_a_product_is_one_region() -> None:
    assert written("heads * head_dim") == "((heads.start * head_dim, heads.stop * head_dim),)"


def test_segments_are_moved_by_the_sizes_before_them() -> None:
    assert written("5 | heads | heads") == (
        "((0, 5), (5 + heads.start, 5 + heads.stop), (5 + heads.size + heads.start, 5 + heads.size + heads.stop))"
    )


def test_padding_stands_behind_its_region() -> None:
    assert written("vocab * 2") == "((vocab.start * 2, vocab.stop * 2, vocab.pad * 2),)"


def test_a_repeat_is_a_loop() -> None:
    assert written("4 * heads") == (
        "(*((i_ * heads.size + heads.start, i_ * heads.size + heads.stop) for i_ in range(0, 4)),)"
    )


def test_loop_variables_are_no_names_of_a_spec() -> None:
    assert written("i * heads") == (
        "(*((i_ * heads.size + heads.start, i_ * heads.size + heads.stop) for i_ in range(0, i)),)"
    )


@pytest.mark.parametrize(
    ("layout", "code"),
    [
        ("turns", "(*turns.runs,)"),
        ("turns * 2", "(*((start_ * 2, stop_ * 2) for start_, stop_ in turns.runs),)"),
        ("5 | turns", "((0, 5), *((5 + start_, 5 + stop_) for start_, stop_ in turns.runs))"),
        (
            "2 * turns",
            "(*(region for i_ in range(0, 2) for region in "
            "(*((i_ * turns.size + start1_, i_ * turns.size + stop1_) for start1_, stop1_ in turns.runs),)),)",
        ),
    ],
)
def test_an_axis_that_is_dealt_round_robin_is_its_runs(layout: str, code: str) -> None:
    assert written(layout) == code
