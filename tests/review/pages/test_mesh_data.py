"""One mesh of a report: bytes of each rank, collectives, contracts, outputs."""

from __future__ import annotations

import pytest

from shardc.plan.totals import rank_totals
from shardc.review.pages.cut_table import CutTable
from shardc.review.pages.mesh_data import mesh_data, rank_bytes
from shardc.review.pages.tensor_rows import tensor_rows
from tests.review.pages.reports import data_of, mesh_named, plan_of
from tests.support import compiled


@pytest.mark.parametrize(
    ("spec", "name", "mesh"),
    [
        ("llama", "llama-3.1-8b", {"tp": 16}),
        ("llama", "llama-3.1-8b", {"tp": 2, "pp": 2}),
        ("gpt_oss", "gpt-oss-20b-mxfp4", {"tp": 8}),
        ("glm5_next", "glm-5.3-flash", {"tp": 2, "ep": 4}),
    ],
)
def test_bytes_are_the_totals_of_the_plan(spec: str, name: str, mesh: dict[str, int]) -> None:
    plan = plan_of(spec, name, **mesh)
    totals = [rank_totals(plan, rank) for rank in plan.ranks()]
    wanted = [[one.local, one.replicated, one.padding] for one in totals]
    assert rank_bytes(plan, tensor_rows([plan], CutTable()), 0) == wanted


def test_bytes_of_a_rank_in_numbers() -> None:
    """An eighth of what is cut; 32 layers' two norms and the last one, 4,096 BF16 each, are on every rank."""
    data = data_of("llama", "llama-3.1-8b")
    assert mesh_named(data, "tp=8")["bytes"] == [[2_008_031_232, 65 * 4096 * 2, 0]] * 8
    assert data["bytes"] == 16_060_522_496


def test_collectives_and_contracts() -> None:
    mesh = mesh_named(data_of("glm5_next", "glm-5.3-flash"), "tp=8")
    assert ["all_reduce", "tp", "model.language_model.layers.{layer}.self_attn.o_proj.weight"] in mesh["todo"]
    why = "one 256-thread block normalises two heads of 128 channels, over the q and k channels only"
    assert mesh["holds"] == [["causal_conv1d_l2norm", "channels % 256 == 0", [["channels", 2048]], why]]
    assert mesh_named(data_of("glm5_next", "glm-5.3-flash"), "tp=1")["todo"] == []


OUTPUTS = """
spec: 1
name: t
architectures: [T]
dtype: BF16
axes: {heads: {size: 4}, experts: {size: 4, over: ep}}
groups:
  attention:
    at: layers.{layer}
    for: {layer: 3}
    tensors:
      q: {shape: [heads * 4, 6], shard: channel_rows}
      k: {shape: [heads * 2, 6], shard: channel_rows}
    outputs: {qk: {concat: [q, k]}}
  experts:
    at: experts.{expert}
    for: {expert: experts}
    tensors: {up: {shape: [4], shard: expert_slices}}
    outputs: {w: {concat: [up], stack: expert}}
  head:
    only: {tp: last}
    tensors: {a: {shape: [4], shard: replicated}, b: {shape: [4], shard: replicated}}
    outputs: {ab: {concat: [a, b]}}
"""


def test_outputs_are_those_of_the_first_rank_that_has_them() -> None:
    one = compiled(OUTPUTS, {}, {"tp": 2, "ep": 2})
    assert mesh_data(one, [], [])["outputs"] == [
        ["layers.*.qk", 3, [12, 6], "BF16", "q, k", 0],
        ["experts.w", 1, [2, 4], "BF16", "up of each expert", 0],
        ["ab", 1, [8], "BF16", "a, b", 1],
    ]


def test_an_output_of_a_stage_in_the_middle_is_found() -> None:
    text = OUTPUTS.replace("  attention:\n", "  attention:\n    when: layer == 1\n").replace(
        "{layer: 3}", "{layer: layers}"
    ).replace("axes: {", "axes: {layers: {size: 3, over: pp}, ")  # fmt: skip
    outputs = mesh_data(compiled(text, {}, {"tp": 2, "ep": 1, "pp": 3}), [], [])["outputs"]
    assert isinstance(outputs, list) and ["layers.*.qk", 1, [12, 6], "BF16", "q, k", 2] in outputs
