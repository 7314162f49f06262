"""Biases of layers whose output is summed: on one rank of the axis that is summed over, or on all where none is."""

from __future__ import annotations

from pathlib import Path

import pytest

from shardc.plan.collectives import at_work
from tests.plan.support import spec
from tests.support import compiled, generated, generated_rows, plan, resolved, rows

TEXT = spec("""\
config: {hidden: hidden, n: heads, inter: inter, num_experts: experts}
axes:
  heads: {size: n, if_uneven: whole}
  wide: {size: inter, over: moe_tp}
  experts: {size: num_experts, over: ep}
groups:
  attention:
    tensors:
      o.weight: {shape: [hidden, heads * 8], shard: channel_cols}
      o.bias: {shape: [hidden], shard: rank0}
      lone.bias: {shape: [hidden], shard: rank0}
  experts:
    tensors:
      down: {shape: [experts, hidden, wide], shard: expert_slices + row_parallel}
      down_bias: {shape: [experts, hidden], shard: expert_slices + rank0}
""")
CONFIG = {"hidden": 4, "heads": 3, "inter": 8, "experts": 2}
HELD, ZEROS = ((0, 4, 0),), ((0, 0, 4),)


def test_the_axis_of_the_weight_beside() -> None:
    assert resolved(TEXT).summed == {"o.bias": "heads", "down_bias": "wide"}


@pytest.mark.parametrize(
    ("mesh", "rank", "biases"),
    [
        # Three heads do not divide by two ranks: each has all of them, works out the whole output, and adds the bias.
        ({"tp": 2}, {"tp": 1}, [HELD, ZEROS, HELD]),
        ({"tp": 3}, {"tp": 0}, [HELD, HELD, HELD]),
        ({"tp": 3}, {"tp": 2}, [ZEROS, ZEROS, HELD]),
        ({"tp": 2, "moe_tp": 2}, {"tp": 1, "moe_tp": 0}, [HELD, ZEROS, HELD]),
        ({"moe_tp": 2}, {"moe_tp": 1}, [HELD, HELD, ZEROS]),
    ],
)
def test_who_has_a_bias(
    mesh: dict[str, int], rank: dict[str, int], biases: list[tuple[tuple[int, int, int]]], tmp_path: Path
) -> None:
    mesh = {"tp": 1, "ep": 1, "moe_tp": 1, **mesh}
    found = rows(plan(TEXT, CONFIG, mesh), rank)
    assert [found[name][1][-1] for name in ("o.bias", "lone.bias", "down_bias")] == biases
    module = generated(resolved(TEXT), tmp_path)
    assert generated_rows(module, CONFIG, {dim: (rank.get(dim, 0), size) for dim, size in mesh.items()}) == found


def test_what_nobody_cut_is_not_summed() -> None:
    found = [(one.pattern, one.what, one.over) for one in at_work(plan(TEXT, CONFIG, {"tp": 2, "ep": 2, "moe_tp": 2}))]
    assert found == [("down", "all_reduce", "moe_tp"), ("down", "combine", "ep")]
    at_three = [
        (one.pattern, one.what, one.over) for one in at_work(plan(TEXT, CONFIG, {"tp": 3, "ep": 1, "moe_tp": 1}))
    ]
    assert at_three == [("o.weight", "all_reduce", "tp")]


SHARED = spec("""\
config: {hidden: hidden, n: heads}
axes: {heads: {size: n, if_fewer: replicate}}
groups:
  attention: {tensors: {o.weight: {shape: [hidden, heads * 8], shard: channel_cols}}}
""")
TWICE = "2 heads are on 2 tp ranks each, so a sum over tp counts each of them 2 times"


def test_heads_that_ranks_share_are_not_summed(tmp_path: Path) -> None:
    result = compiled(SHARED, {"hidden": 4, "heads": 2}, {"tp": 4})
    assert [(fault.axis.name, fault.error.code, fault.error.message) for fault in result.axes] == [
        ("heads", "SHD206", TWICE)
    ]
    module = generated(resolved(SHARED), tmp_path)
    with pytest.raises(module.rt.ShardError) as refused:
        module.plan({"hidden": 4, "heads": 2}, {"tp": (3, 4)})
    assert refused.value.findings == (("SHD206", TWICE),)


@pytest.mark.parametrize(("heads", "tp"), [(2, 2), (1, 4), (4, 2)])
def test_heads_that_one_rank_or_all_ranks_have(heads: int, tp: int, tmp_path: Path) -> None:
    config = {"hidden": 4, "heads": heads}
    found = rows(plan(SHARED, config, {"tp": tp}), {"tp": tp - 1})
    module = generated(resolved(SHARED), tmp_path)
    assert generated_rows(module, config, {"tp": (tp - 1, tp)}) == found
