"""The plan as data: the fields that other programs read."""

from __future__ import annotations

import json
from typing import Any

from shardc.plan.as_json import FORMAT_VERSION, as_json
from tests.plan.support import model


def data(tp: int, ep: int, ranks: list[dict[str, int]], tensors: str = "*") -> Any:
    """Through text, as a reader has it."""
    return json.loads(json.dumps(as_json(model(tp, ep), ranks, tensors)))


def test_what_the_plan_says_of_itself() -> None:
    out = data(2, 2, [])
    assert out == {
        "format_version": FORMAT_VERSION,
        "spec": "example",
        "evidence": "config.json",
        "mesh": {"tp": 2, "ep": 2},
        "ranks": [],
        "collectives": [
            {"tensor": "embed.weight", "collective": "masked_all_reduce", "mesh_dim": "tp"},
            {"tensor": "layers.{layer}.o.weight", "collective": "all_reduce", "mesh_dim": "tp"},
        ],
        "contracts": [
            {"contract": "vocab_64", "requires": "rows % 64 == 0", "values": {"rows": 128}, "holds": True}
        ],
    }  # fmt: skip


def test_no_collectives_on_one_rank() -> None:
    assert data(1, 4, [])["collectives"] == []


def test_a_rank_has_all_its_bytes_whatever_is_shown() -> None:
    [rank] = data(2, 2, [{"tp": 1, "ep": 1}], "nothing")["ranks"]
    assert rank == {
        "rank": {"tp": 1, "ep": 1},
        "full_bytes": 1376,
        "local_bytes": 720,
        "replicated_bytes": 656,
        "padding_bytes": 64,
        "tensors": [],
        "outputs": [],
    }


def test_a_padded_tensor() -> None:
    [tensor] = data(2, 2, [{"tp": 1, "ep": 1}], "embed.*")["ranks"][0]["tensors"]
    assert tensor == {
        "name": "embed.weight",
        "format": "dense",
        "dtype": "BF16",
        "load_dtype": "BF16",
        "kind": "vocab_rows",
        "full_shape": [10, 4],
        "local_shape": [8, 4],
        "regions": [[[8, 10]], [[0, 4]]],
        "zero_fill": [[[2, 8], [0, 4]]],
        "full_bytes": 80,
        "local_bytes": 64,
    }


def test_segments_a_cast_and_a_bias_of_rank_0() -> None:
    tensors = {t["name"]: t for t in data(2, 1, [{"tp": 1, "ep": 0}], "layers.1.*")["ranks"][0]["tensors"]}
    assert tensors["layers.1.qk.weight"]["regions"] == [[[8, 16], [20, 24]], [[0, 4]]]
    norm, bias = tensors["layers.1.norm.weight"], tensors["layers.1.o.bias"]
    assert (norm["dtype"], norm["load_dtype"], norm["full_bytes"], norm["local_bytes"]) == ("F32", "BF16", 16, 8)
    assert (bias["regions"], bias["zero_fill"], bias["local_shape"]) == ([[]], [[[0, 4]]], [4])


def test_names_of_a_rank_with_its_companions() -> None:
    rows = data(1, 4, [{"tp": 0, "ep": 3}], "layers.0.experts.*")["ranks"][0]["tensors"]
    assert [(row["name"], row["format"], row["full_shape"]) for row in rows] == [
        ("layers.0.experts.3.up.weight", "nvfp4", [4, 16]),
        ("layers.0.experts.3.up.weight_scale", "nvfp4", [4, 2]),
        ("layers.0.experts.3.up.weight_scale_2", "nvfp4", []),
    ]
