"""Rows of tensors: those of `shardc plan`, with exact regions, companions, segments, replicas and padding."""

from __future__ import annotations

from pathlib import Path

import pytest

from shardc.cli.specs import resolve_file
from shardc.plan.rows import rows
from shardc.review.pages.cut_table import CutTable
from shardc.review.pages.tensor_rows import tensor_rows
from tests.review.pages.reports import cuts_of, data_of, mesh_named, plan_of, row_named
from tests.support import ROOT

K_PROJ = "model.layers.*.self_attn.k_proj.weight"
CHECKPOINTS = [
    ("llama", "llama-3.1-8b", {"tp": 8}),
    ("llama", "llama-3.3-70b-w4a16-ct", {"tp": 16}),
    ("glm5_next", "glm-5.3-flash", {"tp": 4}),
    ("glm5_next", "glm-5.3-flash-nvfp4", {"tp": 32}),
    ("gpt_oss", "gpt-oss-20b-mxfp4", {"tp": 8}),
    ("qwen3_next", "qwen3-next-80b-a3b", {"tp": 8}),
    ("nemotron_h", "nemotron-3-nano-30b-a3b", {"tp": 2}),
    ("falcon", "falcon-180b-chat", {"tp": 4}),
]


@pytest.mark.parametrize(("spec", "name", "mesh"), CHECKPOINTS, ids=[name for _, name, _ in CHECKPOINTS])
def test_rows_are_those_of_the_plan(spec: str, name: str, mesh: dict[str, int]) -> None:
    plan = plan_of(spec, name, **mesh)
    ours = [
        (row.name, row.count, tuple(dim.size for dim in row.dims), row.part.dtype)
        for row in tensor_rows([plan], CutTable())
    ]
    theirs = [(row.tensor, row.count, row.full_shape, row.dtype) for row in rows(plan, {})]
    assert sorted(ours) == sorted(theirs)


def test_rank_3_of_8_has_rows_384_to_512_of_k_proj() -> None:
    rows, columns = cuts_of(data_of("llama", "llama-3.1-8b"), "tp=8", K_PROJ)
    assert (rows["n"], rows["o"], rows["s"], rows["r"][3]) == (1024, ["tp"], [8], [[384, 512]])
    assert columns == {"n": 4096, "o": [], "s": [], "r": [[[0, 4096]]]}


def test_four_ranks_of_32_hold_the_same_rows_of_k_proj() -> None:
    rows, _ = cuts_of(data_of("llama", "llama-3.1-8b"), "tp=32", K_PROJ)
    assert [rank for rank, regions in enumerate(rows["r"]) if regions == [[384, 512]]] == [12, 13, 14, 15]


def test_a_row_says_its_shape_kind_and_dtype() -> None:
    data = data_of("llama", "llama-3.1-8b")
    row = data["rows"][row_named(data, K_PROJ)]
    kv_heads = next(i for i, axis in enumerate(data["axes"]) if axis["name"] == "kv_heads")
    layers = next(i for i, axis in enumerate(data["axes"]) if axis["name"] == "layers")
    assert row == {
        "t": K_PROJ,
        "p": "model.layers.{layer}.self_attn.k_proj.weight",
        "e": "model.layers.{layer}.self_attn.k_proj.weight",
        "g": [group["name"] for group in data["groups"]].index("attention"),
        "n": 32,
        "s": [1024, 4096],
        "f": "[kv_heads * head_dim, hidden]",
        "k": "channel_rows",
        "d": "BF16",
        "l": "BF16",
        "b": 2,
        "fb": 2,
        "fm": "dense",
        "m": [[[1024, "kv_heads * head_dim", 128, []]], [[4096, "hidden", 0, []]]],
        "pic": [0, 1, []],
        "u": [kv_heads, 128],
        "sel": [layers],
    }


def test_segments_are_cut_each_by_itself() -> None:
    data = data_of("qwen3_next", "qwen3-next-80b-a3b")
    name = "model.layers.*.linear_attn.conv1d.weight"
    rows = cuts_of(data, "tp=8", name)[0]
    assert rows["r"][3] == [[768, 1024], [2816, 3072], [5632, 6144]]
    marks = data["rows"][row_named(data, name)]["m"][0]
    assert [(size, words) for size, words, *_ in marks] == [
        (2048, "k_heads * key_dim"),
        (2048, "k_heads * key_dim"),
        (4096, "v_heads * value_dim"),
    ]
    assert data["rows"][row_named(data, name)]["pic"] == [0, 2, []]


def test_padding_is_beside_the_regions() -> None:
    """2,880 features are 90 blocks of 32, 12 a rank: the last has 6, and 192 features of zeros."""
    data = data_of("gpt_oss", "gpt-oss-20b-mxfp4")
    name = next(row["t"] for row in data["rows"] if row["t"].endswith("down_proj_blocks"))
    (blocks,) = [cut for cut in cuts_of(data, "tp=8", name) if cut["o"] == ["tp"]]
    assert (blocks["n"], blocks["r"][6], blocks["r"][7]) == (90, [[72, 84]], [[84, 90, 6]])


def test_experts_by_name_are_counted_by_rank() -> None:
    data = data_of("glm5_next", "glm-5.3-flash")
    i = row_named(data, "model.language_model.layers.*.mlp.experts.*.gate_proj.weight")
    kept = data["kept"][mesh_named(data, "ep=8")["rows"][i][-1]]
    assert kept == {"o": ["ep"], "s": [8], "c": [1548] * 8}
    assert [data["axes"][axis]["name"] for axis in data["rows"][i]["sel"]] == ["layers", "experts"]


def test_companions_are_rows_of_their_own() -> None:
    data = data_of("glm5_next", "glm-5.3-flash")
    scales = data["rows"][row_named(data, "model.language_model.layers.*.mlp.experts.*.gate_proj.weight_scale_inv")]
    assert (scales["c"], scales["s"], scales["d"]) == (1, [16, 32], "F32")
    assert scales["f"] == "[ceil(out / 128), ceil(in / 128)] of [moe_inter, hidden]"
    weight = data["rows"][row_named(data, "model.language_model.layers.*.mlp.experts.*.gate_proj.weight")]
    assert ("c" in weight, weight["fm"], weight["f"]) == (False, "fp8_block", "[moe_inter, hidden]")


def test_groups_that_differ_say_which_of_them_has_a_condition() -> None:
    data = data_of("glm5_next", "glm-5.3-flash")
    row = data["rows"][row_named(data, "model.language_model.layers.*.self_attn.kv_b_proj.weight")]
    assert row["w"] == ["dsa: layer_types[layer] == 'deepseek_sparse_attention'"]
    assert row["on"] == ["mtp_dsa: pp last"]


WITH_TARGETS = [file for file in sorted((ROOT / "specs").glob("*.yaml")) if "checkpoint:" in file.read_text()]


@pytest.mark.parametrize("file", WITH_TARGETS, ids=lambda file: file.stem)
def test_no_spec_has_a_shape_that_a_report_cannot_say(file: Path) -> None:
    """The first checkpoint of each spec that has one is drawn."""
    resolved, _ = resolve_file(file)
    assert resolved is not None
    data = data_of(file.stem, resolved.spec.targets[0].checkpoint)
    assert data["rows"] and data["meshes"]
