"""What stands in the way of a plan: axes, cuts, contracts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from shardc.plan.compile import Compiled, compile_plan
from tests.plan.support import PIPELINE_CONFIG, pipeline, spec
from tests.support import bound, compiled, generated, resolved

AXES = spec("""\
config: {kv: kv, n: n, per_layer: per_layer, layers: layers}
axes:
  kv_heads: {size: kv}
  heads: {size: n, within: kv_heads}
groups:
  all:
    tensors:
      q.weight: {shape: [heads * 4, 8], shard: channel_rows}
      k.weight: {shape: [kv_heads * 4, 8], shard: channel_rows}
  own:
    at: "{layer}"
    for: {layer: layers}
    axes:
      own_kv: {size: "per_layer[layer]"}
      own_heads: {size: "per_layer[layer] * 2", within: own_kv}
    tensors:
      q.weight: {shape: [own_heads * 4, 8], shard: channel_rows}
      k.weight: {shape: [own_kv * 4, 8], shard: channel_rows}
""")
CONFIG = {"kv": 4, "n": 8, "per_layer": [4, 6, 4, 2], "layers": 4}


def axis_faults(config: Mapping[str, Any], tp: int) -> list[tuple[str, dict[str, int], str]]:
    result = compiled(AXES, {**CONFIG, **config}, {"tp": tp})
    assert (result.plan is None) is bool(result.axes)
    return [(fault.axis.name, dict(fault.env), str(fault.error)) for fault in result.axes]


def test_all_is_well() -> None:
    result = compiled(AXES, CONFIG, {"tp": 2})
    assert result.ok and not (result.axes or result.cuts or result.contracts)


def test_an_axis_that_differs_by_layer_is_dealt_in_each() -> None:
    plan = compiled(AXES, CONFIG, {"tp": 2}).plan
    assert plan is not None
    split = {key: (plan.splits[key].size, plan.splits[key].shares[1].start) for key in plan.splits}
    assert split == {
        ("kv_heads", ()): (4, 2),
        ("heads", ()): (8, 4),
        ("own_kv", (("layer", 0),)): (4, 2),
        ("own_heads", (("layer", 0),)): (8, 4),
        ("own_kv", (("layer", 1),)): (6, 3),
        ("own_heads", (("layer", 1),)): (12, 6),
        ("own_kv", (("layer", 2),)): (4, 2),
        ("own_heads", (("layer", 2),)): (8, 4),
        ("own_kv", (("layer", 3),)): (2, 1),
        ("own_heads", (("layer", 3),)): (4, 2),
    }


def test_each_layer_that_fails_is_a_fault_and_children_are_not() -> None:
    assert axis_faults({}, 4) == [
        ("own_kv", {"layer": 1}, "6 own_kv cannot be dealt to 4 tp ranks: 1.5 each"),
        ("own_kv", {"layer": 3}, "2 own_kv cannot be dealt to 4 tp ranks: 0.5 each"),
    ]


def test_every_axis_is_tried() -> None:
    assert axis_faults({"layers": 1, "n": 10, "per_layer": [5]}, 2) == [
        ("heads", {}, "10 heads are not a whole multiple of the 4 kv_heads"),
        ("own_kv", {"layer": 0}, "5 own_kv cannot be dealt to 2 tp ranks: 2.5 each"),
    ]


CUTS = spec("""\
config: {kv: kv, width: width}
axes:
  kv_heads: {size: kv, if_fewer: replicate}
  heads: {size: 8, within: kv_heads}
groups:
  all:
    tensors:
      q.weight: {shape: [heads * 64, 256], shard: channel_rows, formats: [fp8_block]}
      o.weight: {shape: [256, heads * 64], shard: channel_cols, formats: [fp8_block]}
      up.weight: {shape: [256, width], shard: replicated, formats: [nvfp4]}
      down.weight: {shape: [256, width], shard: replicated, formats: [nvfp4]}
""")


def cut_faults(result: Compiled) -> list[tuple[str, int, str, str]]:
    return [(fault.name, fault.dim, fault.error.code, fault.error.message) for fault in result.cuts]


def test_a_cut_inside_a_unit_stops_every_tensor_that_is_cut_alike() -> None:
    """Eight ranks share two kv heads: each holds one head of 64, half a block of 128."""
    result = compiled(CUTS, {"kv": 2, "width": 64}, {"tp": 8})
    assert result.plan is not None and not result.ok
    assert cut_faults(result) == [
        ("q.weight_scale_inv", 0, "SHD212", "cut at 64, inside a unit of 128"),
        ("o.weight_scale_inv", 1, "SHD212", "cut at 64, inside a unit of 128"),
    ]
    assert compiled(CUTS, {"kv": 2, "width": 64}, {"tp": 4}).ok


def test_units_that_do_not_come_out_whole() -> None:
    assert cut_faults(compiled(CUTS, {"kv": 2, "width": 40}, {"tp": 1})) == [
        ("up.weight_scale", 1, "SHD213", "40 is not a multiple of 16"),
        ("down.weight_scale", 1, "SHD213", "40 is not a multiple of 16"),
    ]


CONTRACTS = spec("""\
config: {n: n, ex: ex, fused: fused, sizes: sizes}
axes:
  heads: {size: n, if_uneven: spread}
  experts: {size: ex, over: ep, if_uneven: spread}
contracts:
  - {use: vocab_64, with: {rows: CONTRACT}}
groups:
  all:
    tensors:
      q.weight: {shape: [heads * 32, 8], shard: channel_rows}
      up.weight: {shape: [experts, 8], shard: expert_slices}
""")
SIZES = {"n": 8, "ex": 4, "fused": True, "sizes": [64]}


def contract(rows: str, config: Mapping[str, Any], mesh: Mapping[str, int]) -> Compiled:
    return compiled(CONTRACTS.replace("CONTRACT", rows), {**SIZES, **config}, mesh)


def test_a_contract_that_holds_gives_the_values_of_the_first_rank() -> None:
    result = contract("local(heads * 64)", {"n": 9}, {"tp": 2, "ep": 1})
    assert result.ok
    assert [(held.contract.use, held.values) for held in result.holds] == [("vocab_64", {"rows": 320})]


@pytest.mark.parametrize(
    ("rows", "config", "mesh", "values", "rank"),
    [
        pytest.param("local(heads * 32)", {}, {"tp": 8, "ep": 1}, {"rows": 32}, {"tp": 0}, id="the first rank"),
        pytest.param("local(heads * 32)", {"n": 7}, {"tp": 2, "ep": 2}, {"rows": 96}, {"tp": 1}, id="4 heads, then 3"),
        pytest.param("local(experts * 32)", {"ex": 3}, {"tp": 2, "ep": 2}, {"rows": 32}, {"ep": 1}, id="over ep"),
        pytest.param(
            "local(heads * 4) * local(experts * 8)", {"ex": 3}, {"tp": 2, "ep": 2}, {"rows": 16 * 8},
            None, id="over both it holds",
        ),
        pytest.param(
            "local(heads * 4) * local(experts * 2)", {"ex": 3}, {"tp": 2, "ep": 2}, {"rows": 16 * 2},
            {"tp": 0, "ep": 1}, id="over both",
        ),
        pytest.param("n * 4", {}, {"tp": 2, "ep": 2}, {"rows": 32}, {"tp": 0}, id="over none"),
    ],
)  # fmt: skip
def test_a_contract_is_asked_on_every_rank(
    rows: str, config: dict[str, int], mesh: dict[str, int], values: dict[str, int], rank: dict[str, int] | None
) -> None:
    result = contract(rows, config, mesh)
    assert [(fault.values, fault.rank) for fault in result.contracts] == ([(values, rank)] if rank else [])
    assert result.ok is (rank is None)


def test_a_contract_without_a_value() -> None:
    [fault] = contract("'sizes[n]'", {}, {"tp": 1, "ep": 1}).contracts
    assert (fault.values, str(fault.error)) == ({}, "`sizes[n]`: index 8 of 1 entries")


@pytest.mark.parametrize(("fused", "held"), [(True, 1), (False, 0)])
def test_a_contract_that_is_not_meant(fused: bool, held: int) -> None:
    text = CONTRACTS.replace("{rows: CONTRACT}", "{rows: 64}, when: fused")
    result = compiled(text, {**SIZES, "fused": fused}, {"tp": 1, "ep": 1})
    assert (len(result.holds), len(result.contracts)) == (held, 0)


def test_an_answer_is_kept_for_meshes_that_do_not_differ_in_it() -> None:
    one = bound(CONTRACTS.replace("CONTRACT", "local(experts * 64)"), SIZES)
    for tp, ep in [(1, 1), (2, 1), (4, 1), (1, 2), (2, 2)]:
        assert compile_plan(one, {"tp": tp, "ep": ep}).ok
    assert list(one.answers) == [(("contracts", 0), 1), (("contracts", 0), 2)]


def test_a_generated_module_asks_on_its_own_rank(tmp_path: Path) -> None:
    module = generated(resolved(CONTRACTS.replace("CONTRACT", "local(experts * 32)")), tmp_path)
    config = {**SIZES, "ex": 3}
    assert len(list(module.plan(config, {"ep": (0, 2)}, None))) == 2
    with pytest.raises(module.rt.ShardError, match=r"rows % 64 == 0: rows = 32 on ep rank 1 of 2"):
        module.plan(config, {"ep": (1, 2)}, None)


@pytest.mark.parametrize(
    ("embedded", "pp", "said"),
    [
        ("[first, last]", 4, []),
        ("last", 4, []),
        ("first", 1, []),
        ("first", 2, ["head.weight is tied to embed.weight, which pp rank 1 of 2 does not have"]),
        ("first", 4, ["head.weight is tied to embed.weight, which pp rank 3 of 4 does not have"]),
    ],
)
def test_a_tied_tensor_is_where_its_twin_is(embedded: str, pp: int, said: list[str]) -> None:
    result = compiled(pipeline(embedded), PIPELINE_CONFIG, {"tp": 1, "attn_tp": 1, "ep": 1, "pp": pp})
    assert [fault.message for fault in result.ties] == said
    assert result.ok is not bool(said)


def test_an_untied_tensor_may_be_anywhere() -> None:
    assert compiled(pipeline("first"), {**PIPELINE_CONFIG, "tied": False}, {"tp": 1, "pp": 2}).ok


def test_a_tied_tensor_on_all_stages() -> None:
    text = pipeline("[first, last]").replace("    only: {pp: last}\n", "")
    result = compiled(text, PIPELINE_CONFIG, {"tp": 1, "pp": 3})
    assert [(fault.over, fault.rank) for fault in result.ties] == [("pp", 1)]


def test_axes_that_can_be_dealt_are_there_where_others_cannot() -> None:
    text = spec("""\
    axes: {a: {size: 6}, b: {size: 4}, c: {size: 12, within: a}}
    groups: {g: {tensors: {w: {shape: [a, 2], shard: column_parallel}, v: {shape: [b, 2], shard: column_parallel}}}}
    """)
    tried = compiled(text, {}, {"tp": 4})
    assert tried.plan is None
    assert [fault.axis.name for fault in tried.axes] == ["a"]
    assert [(name, split.shares[1].start) for (name, _), split in tried.dealt.items()] == [("b", 1)]
