"""Axes: how they are declared and dealt, parents above children, and why a granule is what it is."""

from __future__ import annotations

from typing import Any

from tests.review.pages.reports import data_of, mesh_named


def _axes(spec: str, name: str, mesh: str) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    data = data_of(spec, name)
    cuts = [data["cuts"][i] for i in mesh_named(data, mesh)["axes"]]
    return {axis["name"]: (axis, cut) for axis, cut in zip(data["axes"], cuts, strict=True)}


def test_children_follow_their_parents() -> None:
    names = [axis["name"] for axis in data_of("qwen3_next", "qwen3-next-80b-a3b")["axes"]]
    assert names.index("heads") == names.index("kv_heads") + 1
    assert names.index("v_heads") == names.index("k_heads") + 1


def test_an_axis_with_replicas_and_its_child() -> None:
    axes = _axes("llama", "llama-3.1-8b", "tp=16")
    kv_heads, cut = axes["kv_heads"]
    assert kv_heads == {
        "name": "kv_heads",
        "formula": "num_kv_heads",
        "size": 8,
        "over": "tp",
        "role": "heads",
        "granule": 1,
        "rule": ["if_fewer: replicate"],
    }
    assert [cut["r"][rank] for rank in (0, 1, 2, 15)] == [[[0, 1]], [[0, 1]], [[1, 2]], [[7, 8]]]
    heads, cut = axes["heads"]
    assert (heads["within"], heads["size"], cut["r"][15]) == ("kv_heads", 32, [[30, 32]])


def test_an_axis_of_other_checkpoints_says_so() -> None:
    axes = _axes("falcon", "falcon-180b-chat", "tp=8")
    assert [name for name, (axis, _) in axes.items() if "idle" in axis] == ["heads"], "its heads are in groups"
    assert not any("idle" in axis for axis, _ in _axes("glm5_next", "glm-5.3-flash", "tp=8").values())


def test_a_granule_says_which_format_asks_for_it() -> None:
    moe_inter, _ = _axes("glm5_next", "glm-5.3-flash", "tp=8")["moe_inter"]
    assert moe_inter["granule"] == 128
    assert moe_inter["why"] == ["128: fp8_block has units of 128, and one of moe_inter takes 1"]


def test_padding_of_an_axis_is_on_its_last_rank() -> None:
    inter, cut = _axes("gpt_oss", "gpt-oss-20b-mxfp4", "tp=8")["inter"]
    assert (inter["rule"], inter["granule"], cut["r"][7]) == (["if_uneven: ceil"], 32, [[2688, 2880, 192]])


def test_experts_are_dealt_over_ep() -> None:
    _, cut = _axes("glm5_next", "glm-5.3-flash", "tp=2 ep=4")["experts"]
    assert cut == {"n": 288, "o": ["ep"], "s": [4], "r": [[[0, 72]], [[72, 144]], [[144, 216]], [[216, 288]]]}
