"""Routed experts: a part of every expert, or some whole ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tests.seeds.model import Model, numbered, write_checkpoint

LARGE = {"hidden_size": 2048, "moe_intermediate_size": 768, "num_experts": 8}
SMALL = {"hidden_size": 4, "moe_intermediate_size": 6, "num_experts": 4}


@pytest.fixture
def moe(model: Callable[..., Model]) -> Model:
    return model("moe")


@pytest.fixture
def moe_over_tp(model: Callable[..., Model]) -> Model:
    return model("moe_over_tp")


def numbered_tensors(model: Model) -> dict[str, torch.Tensor]:
    return {name: numbered(one.shape, torch.bfloat16) for name, one in model.kept(SMALL).items()}


def test_the_width_of_an_expert_is_the_config_s_and_cut_once(moe: Model) -> None:
    kept = moe.kept(LARGE, (1, 2))
    assert kept["experts.7.gate_proj.weight"].shape == (768, 2048)
    assert kept["experts.7.gate_proj.weight"].spans == [[(384, 768)], [(0, 2048)]]
    assert kept["experts.7.up_proj.weight"].spans == [[(384, 768)], [(0, 2048)]]
    assert kept["experts.7.down_proj.weight"].spans == [[(0, 2048)], [(384, 768)]]
    assert kept["gate.weight"].spans == [[(0, 8)], [(0, 2048)]]
    assert len(kept) == 1 + 8 * 3


def test_five_ranks_do_not_divide_the_width(moe: Model) -> None:
    assert moe.refusal(LARGE, {"tp": 5}) == "SHD201: 768 moe_inter cannot be dealt to 5 tp ranks: 153.6 each"


def test_experts_over_ep_and_their_width_over_tp(moe: Model, tmp_path: Path) -> None:
    kept = moe.kept(SMALL, tp=(0, 2), ep=(1, 2))
    assert sorted({name.split(".")[1] for name in kept if name != "gate.weight"}) == ["2", "3"]
    assert kept["experts.2.down_proj.weight"].spans == [[(0, 4)], [(0, 3)]]
    full = numbered_tensors(moe)
    directory = write_checkpoint(tmp_path / "small", SMALL, full)
    loaded = moe.module.load(directory, mesh={"tp": (0, 2), "ep": (1, 2)})
    assert loaded.keys() == kept.keys()
    assert loaded["experts.3.down_proj.weight"].tolist() == [[0, 1, 2], [6, 7, 8], [12, 13, 14], [18, 19, 20]]
    assert torch.equal(loaded["experts.3.up_proj.weight"], full["experts.3.up_proj.weight"][:3])


def test_what_the_model_sums(moe: Model) -> None:
    down = "experts.{expert}.down_proj.weight"
    assert moe.collectives({"tp": 2, "ep": 1}) == [(down, "all_reduce")]
    assert moe.collectives({"tp": 2, "ep": 2}) == [(down, "all_reduce"), (down, "combine")]


def test_whole_experts_over_tp(moe_over_tp: Model, tmp_path: Path) -> None:
    kept = moe_over_tp.kept(SMALL, (1, 2))
    assert sorted({name.split(".")[1] for name in kept if name != "gate.weight"}) == ["2", "3"]
    assert kept["experts.2.gate_proj.weight"].spans == [[(0, 6)], [(0, 4)]]
    full = numbered_tensors(moe_over_tp)
    loaded = moe_over_tp.module.load(write_checkpoint(tmp_path / "small", SMALL, full), tp_rank=1, tp_size=2)
    assert loaded.keys() == kept.keys()
    assert all(torch.equal(loaded[name], full[name]) for name in kept)


def test_three_ranks_do_not_divide_four_experts(moe: Model, moe_over_tp: Model) -> None:
    assert moe.refusal(SMALL, {"ep": 3}) == "SHD201: 4 experts cannot be dealt to 3 ep ranks: 1.33 each"
    assert moe_over_tp.refusal(SMALL, {"tp": 3}) == "SHD201: 4 experts cannot be dealt to 3 tp ranks: 1.33 each"
