"""The JSON of a plan: its fields, and that its bytes add up."""

from __future__ import annotations

import json
from math import prod
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import Folder, invoke
from tests.support import ROOT

SIZES = {"BF16": 2, "F32": 4}
SPEC = """\
spec: 1
name: odd
architectures: [Odd]
dtype: BF16
config: {hidden: hidden, n_heads: n_heads, n_kv: n_kv, inter: inter, vocab_size: vocab, n_experts: n_experts}
axes:
  kv_heads: {size: n_kv, if_fewer: replicate}
  heads:    {size: n_heads, within: kv_heads}
  mlp:      {size: inter, if_uneven: ceil}
  vocab:    {size: vocab_size, pad_to: 8}
  experts:  {size: n_experts, over: ep}
groups:
  all:
    tensors:
      embed.weight: {shape: [vocab, hidden], shard: vocab_rows}
      norm.weight:  {shape: [hidden], shard: replicated, dtype: {file: F32, load: BF16}}
      qkv.weight:   {shape: [heads * 2 | kv_heads * 2 | kv_heads * 2, hidden], shard: segmented_rows}
      up.weight:    {shape: [experts, mlp, hidden], shard: expert_slices + column_parallel}
      down.weight:  {shape: [experts, hidden, mlp], shard: expert_slices + row_parallel}
      down.bias:    {shape: [hidden], shard: rank0}
"""
CONFIG = {"hidden": 6, "n_heads": 8, "n_kv": 2, "inter": 10, "vocab": 21, "n_experts": 4}


@pytest.fixture
def plan(folder: Folder) -> Any:
    Path("odd.yaml").write_text(SPEC)
    Path("config.json").write_text(json.dumps(CONFIG))
    result = invoke("plan", "odd.yaml", "--config", "config.json", "--tp", "4", "--ep", "2", "--format", "json")
    assert result.exit_code == 0
    return json.loads(result.stdout)


def test_the_fields(plan: Any) -> None:
    assert list(plan) == ["format_version", "spec", "evidence", "mesh", "ranks", "collectives", "contracts"]
    assert (plan["format_version"], plan["spec"], plan["mesh"]) == (1, "odd", {"tp": 4, "ep": 2})
    ranks = [(rank["rank"]["ep"], rank["rank"]["tp"]) for rank in plan["ranks"]]
    assert ranks == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (1, 2), (1, 3)]
    assert plan["collectives"] == [
        {"tensor": "embed.weight", "collective": "masked_all_reduce", "mesh_dim": "tp"},
        {"tensor": "down.weight", "collective": "all_reduce", "mesh_dim": "tp"},
        {"tensor": "down.weight", "collective": "combine", "mesh_dim": "ep"},
    ]
    assert plan["contracts"] == []


def test_a_tensor_on_a_rank(plan: Any) -> None:
    tensors = {tensor["name"]: tensor for tensor in plan["ranks"][6]["tensors"]}
    assert tensors["up.weight"] == {
        "name": "up.weight",
        "format": "dense",
        "dtype": "BF16",
        "load_dtype": "BF16",
        "kind": "expert_slices + column_parallel",
        "full_shape": [4, 10, 6],
        "local_shape": [2, 3, 6],
        "regions": [[[2, 4]], [[6, 9]], [[0, 6]]],
        "zero_fill": [],
        "full_bytes": 480,
        "local_bytes": 72,
    }
    assert tensors["qkv.weight"]["regions"] == [[[8, 12], [18, 20], [22, 24]], [[0, 6]]]
    assert (tensors["norm.weight"]["dtype"], tensors["norm.weight"]["load_dtype"]) == ("F32", "BF16")


def test_what_is_filled_with_zeros(plan: Any) -> None:
    tensors = {tensor["name"]: tensor for tensor in plan["ranks"][7]["tensors"]}
    assert (tensors["embed.weight"]["local_shape"], tensors["embed.weight"]["regions"]) == (
        [6, 6],
        [[[18, 21]], [[0, 6]]],
    )
    assert tensors["embed.weight"]["zero_fill"] == [[[3, 6], [0, 6]]]
    assert tensors["up.weight"]["regions"] == [[[2, 4]], [[9, 10]], [[0, 6]]]
    assert tensors["up.weight"]["zero_fill"] == [[[0, 2], [1, 3], [0, 6]]]
    assert (tensors["down.bias"]["regions"], tensors["down.bias"]["zero_fill"]) == ([[]], [[[0, 6]]])


def test_the_bytes_of_a_rank_are_those_of_its_tensors(plan: Any) -> None:
    for rank in plan["ranks"]:
        assert rank["local_bytes"] == sum(tensor["local_bytes"] for tensor in rank["tensors"])
        for tensor in rank["tensors"]:
            assert tensor["local_bytes"] == prod(tensor["local_shape"]) * SIZES[tensor["load_dtype"]]
            assert tensor["full_bytes"] == prod(tensor["full_shape"]) * SIZES[tensor["dtype"]]


def test_local_bytes_are_full_bytes_and_replicas_and_padding(plan: Any) -> None:
    """Each byte of the file lies on some rank; what is more are further copies of it, or zeros."""
    for name in [tensor["name"] for tensor in plan["ranks"][0]["tensors"]]:
        here = [next(t for t in rank["tensors"] if t["name"] == name) for rank in plan["ranks"]]
        item = SIZES[here[0]["load_dtype"]]
        held: dict[tuple[int, ...], int] = {}
        for tensor in here:
            for element in elements(tensor["regions"]):
                held[element] = held.get(element, 0) + 1
        padding = sum(prod(stop - start for start, stop in zeros) for tensor in here for zeros in tensor["zero_fill"])
        assert len(held) == prod(here[0]["full_shape"])
        assert sum(tensor["local_bytes"] for tensor in here) == (sum(held.values()) + padding) * item
        assert {min(held.values()), max(held.values())} <= {1, 2, 4, 8}


def elements(regions: list[list[list[int]]]) -> list[tuple[int, ...]]:
    out: list[tuple[int, ...]] = [()]
    for dim in regions:
        out = [(*element, row) for element in out for start, stop in dim for row in range(start, stop)]
    return out


def test_replicated_bytes_are_those_that_another_rank_holds_too(plan: Any) -> None:
    for rank in plan["ranks"]:
        shared = 0
        for tensor in rank["tensors"]:
            others = [
                set(elements(t["regions"])) for r in plan["ranks"] if r is not rank for t in r["tensors"] if t["name"] == tensor["name"]
            ]  # fmt: skip
            mine = elements(tensor["regions"])
            shared += SIZES[tensor["load_dtype"]] * sum(any(e in other for other in others) for e in mine)
        assert rank["replicated_bytes"] == shared


def test_one_rank_and_some_tensors(folder: Folder) -> None:
    arguments = ["plan", "specs/tiny.yaml", "--config", "specs/checkpoints/tiny.json", "--tp", "2", "--format", "json"]
    report = json.loads(invoke(*arguments, "--rank", "1", "--tensor", "*.1.q_proj.*").stdout)
    (rank,) = report["ranks"]
    assert rank["rank"] == {"tp": 1}
    assert [tensor["name"] for tensor in rank["tensors"]] == ["layers.1.q_proj.weight"]
    assert (rank["full_bytes"], rank["local_bytes"], rank["padding_bytes"]) == (4096, 2048, 0)


def test_contracts_that_hold(folder: Folder) -> None:
    spec, table = ROOT / "specs" / "glm5_next.yaml", ROOT / "specs" / "checkpoints" / "glm-5.3-flash.json"
    out = invoke(
        "plan", spec, "--checkpoint", table, "--tp", "8", "--rank", "0", "--format", "json", "--tensor", "none"
    ).stdout
    assert json.loads(out)["contracts"] == [
        {
            "contract": "causal_conv1d_l2norm",
            "requires": "channels % 256 == 0",
            "values": {"channels": 2048},
            "holds": True,
        }
    ]
