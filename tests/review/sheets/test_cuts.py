"""Cuts of stored tensors on one mesh after another, also on those that do not work."""

from __future__ import annotations

from shardc.plan.compile import compile_plan
from shardc.review.sheets.cuts import Cuts, named
from tests.plan.support import spec
from tests.support import bound

MODEL = spec("""\
axes:
  heads: {size: 4}
  groups: {size: 6}
groups:
  layer:
    tensors:
      q.weight: {shape: [heads * 8, 32], shard: channel_rows}
      k.weight: {shape: [heads * 8, 32], shard: channel_rows}
      g.weight: {shape: [groups, 32], shard: column_parallel}
      o.weight: {shape: [32, groups], shard: row_parallel}
      o.bias: {shape: [32], shard: rank0}
      norm.weight: {shape: [32], shard: replicated}
  own:
    axes: {states: {size: 9}, rows: {size: 8}}
    tensors:
      s.weight: {shape: [states, 2], shard: column_parallel}
      r.weight: {shape: [rows, 2], shard: column_parallel}
      n.weight: {shape: [2], shard: replicated}
""")


def told(tp: int) -> dict[str, str | list[int]]:
    """What is known of each tensor at a size of tp: a code, or the lengths of its dims on rank 0."""
    cuts = Cuts(bound(MODEL, {}))
    on = cuts.on({"tp": tp})
    out: dict[str, str | list[int]] = {}
    for family in cuts.bound.families:
        (part,) = family.stored.parts
        found = cuts.of(family, part, on)
        out[part.first] = found if isinstance(found, str) else [one.locals[0] for one in found]
    return out


def test_a_size_that_does_not_work_says_what_can_be_told() -> None:
    """An axis that cannot be dealt is the fault of the tensors that mention it, also by the bias of their layer.

    Where a group's own axis fails, nothing is said of others of that group.
    """
    assert told(4) == {
        "q.weight": [8, 32],
        "k.weight": [8, 32],
        "g.weight": "SHD201",
        "o.weight": "SHD201",
        "o.bias": "SHD201",
        "norm.weight": [32],
        "s.weight": "SHD201",
        "r.weight": "-",
        "n.weight": "-",
    }


def test_a_unit_that_would_be_cut() -> None:
    text = spec("""\
    axes: {inter: {size: 24}}
    groups: {g: {tensors: {w.weight: {shape: [4, inter | inter], shard: segmented_cols, formats: [nvfp4]}}}}
    """)
    cuts = Cuts(bound(text, {}))
    (family,) = cuts.bound.families
    on = cuts.on({"tp": 1})
    assert not on.works
    assert [cuts.of(family, part, on) for part in family.stored.parts][1] == "SHD213"


def test_equal_formulas_are_cut_once() -> None:
    cuts = Cuts(bound(MODEL, {}))
    on = cuts.on({"tp": 2})
    q, k = ((family, family.stored.parts[0]) for family in cuts.bound.families[:2])
    assert cuts.cut(*q, on)[0] is cuts.cut(*k, on)[0]


def test_plans_that_there_are_already_are_used() -> None:
    found = bound(MODEL, {})
    compiled = compile_plan(found, {"tp": 1})
    cuts = Cuts(found, [compiled])
    assert cuts.on({"tp": 1}).compiled is compiled
    assert cuts.on({"tp": 2}).compiled is not compiled


def test_names_of_meshes() -> None:
    assert named({"tp": 8, "ep": 1, "pp": 4}) == "tp=8, pp=4"
    assert named({"tp": 1, "ep": 1}) == "tp=1"
