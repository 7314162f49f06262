"""Attention with fewer kv heads than heads, with an output gate, and with norms of either width."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tests.seeds.model import Model, numbered, write_checkpoint

PLAIN = {"hidden_size": 16, "num_heads": 8, "num_kv_heads": 2, "head_dim": 4, "gated": False, "full_norm": False}
GATED = PLAIN | {"gated": True}
FULL_NORM = PLAIN | {"full_norm": True}


@pytest.fixture
def attention(model: Callable[..., Model]) -> Model:
    return model("attention")


def test_each_rank_has_a_kv_head_and_the_heads_that_use_it(attention: Model) -> None:
    kept = attention.kept(PLAIN, (1, 2))
    assert kept["q_proj.weight"].spans == [[(16, 32)], [(0, 16)]]
    assert kept["k_proj.weight"].spans == [[(4, 8)], [(0, 16)]]
    assert kept["v_proj.weight"].spans == [[(4, 8)], [(0, 16)]]
    assert kept["o_proj.weight"].spans == [[(0, 16)], [(16, 32)]]


def test_four_ranks_share_two_kv_heads(attention: Model) -> None:
    kept = [attention.kept(PLAIN, (rank, 4)) for rank in range(4)]
    assert [one["k_proj.weight"].spans[0] for one in kept] == [[(0, 4)], [(0, 4)], [(4, 8)], [(4, 8)]]
    assert [one["q_proj.weight"].spans[0] for one in kept] == [[(0, 8)], [(8, 16)], [(16, 24)], [(24, 32)]]
    assert [one["o_proj.weight"].spans[1] for one in kept] == [[(0, 8)], [(8, 16)], [(16, 24)], [(24, 32)]]


def test_three_ranks_cannot_share_two_kv_heads(attention: Model) -> None:
    assert attention.refusal(PLAIN, {"tp": 3}) == (
        "SHD201: 2 kv_heads cannot be dealt to 3 tp ranks: fewer than the ranks, and 3 is not a multiple of 2"
    )


def test_a_gate_doubles_q_and_not_the_input_of_o(attention: Model) -> None:
    kept = attention.kept(GATED, (1, 2))
    assert kept["q_proj.weight"].shape == (64, 16)
    assert kept["q_proj.weight"].spans == [[(32, 64)], [(0, 16)]]
    assert kept["o_proj.weight"].shape == (16, 32)
    assert kept["o_proj.weight"].spans == [[(0, 16)], [(16, 32)]]


def test_each_head_keeps_its_own_gate(attention: Model, tmp_path: Path) -> None:
    full = {name: torch.zeros(one.shape, dtype=torch.bfloat16) for name, one in attention.kept(GATED).items()}
    # Row 8h + j is element j of the query of head h, row 8h + 4 + j of its gate: head + 0.25 marks a gate.
    marks = torch.tensor([head + gate for head in range(8) for gate in (0.0,) * 4 + (0.25,) * 4])
    full["q_proj.weight"] = marks[:, None].repeat(1, 16).bfloat16()
    loaded = attention.module.load(write_checkpoint(tmp_path / "gated", GATED, full), tp_rank=3, tp_size=4)
    assert loaded["q_proj.weight"][:, 0].tolist() == [6.0] * 4 + [6.25] * 4 + [7.0] * 4 + [7.25] * 4


def test_norms_within_a_head_are_whole(attention: Model) -> None:
    kept = attention.kept(PLAIN, (1, 2))
    assert kept["q_norm.weight"].spans == [[(0, 4)]]
    assert kept["k_norm.weight"].spans == [[(0, 4)]]


def test_norms_over_all_heads_are_cut_with_their_projections(attention: Model) -> None:
    kept = attention.kept(FULL_NORM, (3, 4))
    assert kept["q_norm.weight"].spans[0] == kept["q_proj.weight"].spans[0] == [(24, 32)]
    assert kept["k_norm.weight"].spans[0] == kept["k_proj.weight"].spans[0] == [(4, 8)]
    assert attention.collectives({"tp": 4}) == [
        ("o_proj.weight", "all_reduce"),
        ("q_norm.weight", "sum_of_squares"),
        ("k_norm.weight", "sum_of_squares"),
    ]


def test_the_numbers_of_shared_kv_heads(attention: Model) -> None:
    full = {name: numbered(one.shape, torch.bfloat16) for name, one in attention.kept(FULL_NORM).items()}
    ranks = [attention.shard(full, FULL_NORM, (rank, 4)) for rank in range(4)]
    assert [rank["k_norm.weight"].tolist() for rank in ranks] == [[0, 1, 2, 3]] * 2 + [[4, 5, 6, 7]] * 2
    assert torch.equal(ranks[2]["k_proj.weight"], full["k_proj.weight"][4:8])
