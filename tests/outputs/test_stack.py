"""One tensor an expert in the file, one tensor for all of a rank's experts in memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tests.outputs.built import built
from tests.seeds.model import Model

ModelOf = Callable[[str], Model]

MOE = """\
config: {n_experts: experts, inter_size: inter, layers: layers}
axes:
  experts: {size: n_experts, over: ep, UNEVEN}
  inter: {size: inter_size}
groups:
  experts:
    at: layers.{layer}.experts.{expert}
    for: {layer: layers, expert: experts}
    tensors:
      gate.weight: {shape: [inter, 1], shard: expert_slices + column_parallel}
      up.weight: {shape: [inter, 1], shard: expert_slices + column_parallel}
      down.weight: {shape: [1, inter], shard: expert_slices + row_parallel}
      up.scale: {shape: [], shard: expert_slices}
      gate.scale: {shape: [], shard: expert_slices}
      down.scale: {shape: [], shard: expert_slices}
    outputs:
      w13.weight: {concat: [gate.weight, up.weight], stack: expert}
      w2.weight: {concat: [down.weight], stack: expert}
      w13.scale: {concat: [gate.scale, up.scale], stack: expert}
      w2.scale: {concat: [down.scale], stack: expert}
"""


def moe(uneven: str = "if_uneven: error") -> str:
    return MOE.replace("UNEVEN", uneven)


def experts(number: int, layers: int = 1) -> dict[str, torch.Tensor]:
    """Four rows; gate's are 0 .. 3, up's 10 more, down's 20; each expert's 100 more, each layer's 1000."""
    full = {}
    for layer in range(layers):
        for expert in range(number):
            for offset, name in enumerate(("gate", "up", "down")):
                base = 1000.0 * layer + 100 * expert + 10 * offset
                rows = torch.arange(4.0) + base
                at = f"layers.{layer}.experts.{expert}.{name}"
                full[f"{at}.weight"] = rows.reshape((1, 4) if name == "down" else (4, 1))
                full[f"{at}.scale"] = torch.tensor(base)
    return full


def test_on_one_rank(model_of: ModelOf, tmp_path: Path) -> None:
    config = {"experts": 2, "inter": 4, "layers": 1}
    out = built(model_of(moe()), config, experts(2), {"tp": (0, 1), "ep": (0, 1)}, tmp_path / "checkpoint")
    assert out["layers.0.experts.w13.weight"].squeeze(-1).tolist() == [
        [0, 1, 2, 3, 10, 11, 12, 13],
        [100, 101, 102, 103, 110, 111, 112, 113],
    ]
    assert out["layers.0.experts.w2.weight"].tolist() == [[[20, 21, 22, 23]], [[120, 121, 122, 123]]]
    assert out["layers.0.experts.w13.scale"].tolist() == [[0, 10], [100, 110]]
    # One member has one value an expert, and no dim for it.
    assert out["layers.0.experts.w2.scale"].tolist() == [20, 120]


def test_on_a_mesh(model_of: ModelOf, tmp_path: Path) -> None:
    config = {"experts": 4, "inter": 4, "layers": 2}
    out = built(model_of(moe()), config, experts(4, 2), {"tp": (1, 2), "ep": (1, 2)}, tmp_path / "checkpoint")
    assert out["layers.1.experts.w13.weight"].squeeze(-1).tolist() == [
        [1202, 1203, 1212, 1213],
        [1302, 1303, 1312, 1313],
    ]
    assert out["layers.0.experts.w2.weight"].tolist() == [[[222, 223]], [[322, 323]]]
    assert out["layers.1.experts.w13.scale"].tolist() == [[1200, 1210], [1300, 1310]]


def test_experts_that_do_not_divide(model_of: ModelOf, tmp_path: Path) -> None:
    """Padding of the experts is slices of zero behind the last expert."""
    config = {"experts": 3, "inter": 4, "layers": 1}
    out = built(model_of(moe("if_uneven: ceil")), config, experts(3), {"tp": (0, 2), "ep": (1, 2)}, tmp_path / "cp")
    assert out["layers.0.experts.w13.weight"].squeeze(-1).tolist() == [[200, 201, 210, 211], [0, 0, 0, 0]]
    assert out["layers.0.experts.w2.scale"].tolist() == [220, 0]


def test_a_rank_without_an_expert_has_no_output(model_of: ModelOf, tmp_path: Path) -> None:
    config = {"experts": 3, "inter": 4, "layers": 1}
    model = model_of(moe("if_uneven: ceil"))
    assert built(model, config, experts(3), {"tp": (0, 1), "ep": (3, 4)}, tmp_path / "checkpoint") == {}


@pytest.mark.parametrize("order", ["layer: 2, expert: experts", "expert: experts, layer: 2"])
def test_in_either_order_of_the_loops(model_of: ModelOf, tmp_path: Path, order: str) -> None:
    model = model_of(f"""\
    axes: {{experts: {{size: 4, over: ep}}}}
    groups:
      experts:
        at: layers.{{layer}}
        for: {{{order}}}
        tensors:
          experts.{{expert}}.w: {{shape: [1], shard: expert_slices}}
        outputs:
          experts.w: {{concat: ["experts.{{expert}}.w"], stack: expert}}
    """)
    full = {f"layers.{i}.experts.{e}.w": torch.tensor([10.0 * i + e]) for i in range(2) for e in range(4)}
    out = built(model, {}, full, {"tp": (0, 1), "ep": (1, 2)}, tmp_path / "checkpoint")
    assert {name: tensor.tolist() for name, tensor in out.items()} == {
        "layers.0.experts.w": [[2], [3]],
        "layers.1.experts.w": [[12], [13]],
    }


def test_outputs_of_single_experts(model_of: ModelOf, tmp_path: Path) -> None:
    """Without `stack` each expert of the rank has an output of its own."""
    model = model_of("""\
    axes: {experts: {size: 4, over: ep}}
    groups:
      experts:
        at: experts.{expert}
        for: {expert: experts}
        tensors:
          gate: {shape: [1], shard: expert_slices}
          up: {shape: [1], shard: expert_slices}
        outputs:
          gate_up: {concat: [gate, up]}
    """)
    full = {
        f"experts.{e}.{name}": torch.tensor([10.0 * (name == "up") + e]) for e in range(4) for name in ("gate", "up")
    }
    out = built(model, {}, full, {"tp": (0, 1), "ep": (1, 2)}, tmp_path / "checkpoint")
    assert {name: tensor.tolist() for name, tensor in out.items()} == {
        "experts.2.gate_up": [2, 12],
        "experts.3.gate_up": [3, 13],
    }


def test_experts_that_the_file_has_stacked(model_of: ModelOf, tmp_path: Path) -> None:
    """A leading dim of experts stays in front: gate and up are put together behind it."""
    model = model_of("""\
    axes:
      experts: {size: 4, over: ep}
      inter: {size: 2}
    groups:
      experts:
        tensors:
          gate: {shape: [experts, inter, 1], shard: expert_slices + column_parallel}
          up: {shape: [experts, inter, 1], shard: expert_slices + column_parallel}
        outputs:
          w13: {concat: [gate, up]}
    """)
    full = {"gate": torch.arange(8.0).reshape(4, 2, 1), "up": torch.arange(8.0).reshape(4, 2, 1) + 10}
    out = built(model, {}, full, {"tp": (1, 2), "ep": (1, 2)}, tmp_path / "checkpoint")
    assert out["w13"].squeeze(-1).tolist() == [[5, 15], [7, 17]]


@pytest.mark.parametrize(("rank", "held"), [(0, [0, 2, 4]), (1, [1, 3])])
def test_experts_dealt_round_robin(rank: int, held: list[int], model_of: ModelOf, tmp_path: Path) -> None:
    model = model_of(moe("placement: round_robin, if_uneven: spread"))
    config = {"experts": 5, "inter": 4, "layers": 1}
    out = built(model, config, experts(5), {"tp": (0, 1), "ep": (rank, 2)}, tmp_path / "checkpoint")
    assert out["layers.0.experts.w2.weight"][:, 0, 0].tolist() == [20.0 + 100 * expert for expert in held]
    assert out["layers.0.experts.w13.scale"].tolist() == [[100.0 * e, 10.0 + 100 * e] for e in held]
