"""Each collective, around a module of its own; the other rank is played by a line that knows its part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import nn

from shardc.prove.collectives import install
from shardc.prove.families import PLAIN


@dataclass
class Partner:
    """A line to one other rank, whose parts are given in the order in which they are asked for."""

    parts: list[torch.Tensor]
    after: bool = True

    def sum(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor + self.parts.pop(0)

    def concatenate(self, tensor: torch.Tensor) -> torch.Tensor:
        return torch.cat([tensor, self.parts.pop(0)], dim=-1)


class Norm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([1.0, 2.0]))
        self.variance_epsilon = 0.5

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        mean = hidden.pow(2).mean(-1, keepdim=True)
        return self.weight * hidden * torch.rsqrt(mean + self.variance_epsilon)


class Experts(nn.Module):
    """Expert i multiplies by the i-th number."""

    def __init__(self, numbers: list[float]) -> None:
        super().__init__()
        self.down_proj = nn.Parameter(torch.tensor(numbers))
        self.num_experts = 99

    def forward(self, hidden: torch.Tensor, top_k_index: torch.Tensor, top_k_weights: torch.Tensor) -> torch.Tensor:
        assert int(top_k_index.max()) < self.num_experts == len(self.down_proj)
        return hidden * (self.down_proj[top_k_index] * top_k_weights).sum(-1, keepdim=True)


def around(
    module: nn.Module, weight: str, what: str, partner: Partner, regions: dict[str, Any], *tensors: str, vocab: int = 0
) -> nn.Module:
    """A model of that module alone, its weight made of `tensors` of the file (`x` if none is told)."""
    model = nn.ModuleDict({"part": module})
    names = tensors or ("x",)
    pattern = names[0].replace(".0.", ".{expert}.").replace(".2.", ".{expert}.")
    install(model, {f"part.{weight}": names}, [(pattern, what, "tp")], {"tp": partner}, regions, PLAIN, vocab)  # type: ignore[dict-item]
    return module


def test_all_reduce_sums_the_output() -> None:
    linear = nn.Linear(1, 2, bias=False)
    linear.weight.data = torch.tensor([[1.0], [2.0]])
    module = around(linear, "weight", "all_reduce", Partner([torch.tensor([10.0, 20.0])]), {})
    assert module(torch.tensor([3.0])).tolist() == [13.0, 26.0]


def test_a_masked_lookup_sums_zeros_for_the_ids_of_others() -> None:
    table = nn.Embedding(3, 1)  # ids 4 and 5, and a row of padding
    table.weight.data = torch.tensor([[4.0], [5.0], [0.0]])
    partner = Partner([torch.tensor([[[1.0], [0.0], [0.0]]])])
    module = around(table, "weight", "masked_all_reduce", partner, {"x": (((4, 6, 1),), ((0, 1, 0),))})
    assert module(torch.tensor([[1, 4, 5]])).tolist() == [[[1.0], [4.0], [5.0]]]


def test_gather_concatenates_and_leaves_padding_out() -> None:
    head = nn.Linear(1, 2, bias=False)
    head.weight.data = torch.tensor([[1.0], [2.0]])
    module = around(head, "weight", "gather", Partner([torch.tensor([3.0, 0.0])]), {}, vocab=3)
    assert module(torch.tensor([1.0])).tolist() == [1.0, 2.0, 3.0]


def test_sum_of_squares_is_the_norm_over_all_ranks() -> None:
    """This rank has [3, 4], the other [0, 12]: the mean square is 169 / 4."""
    partner = Partner([torch.tensor([144.0]), torch.tensor([2.0])])
    module = around(Norm(), "weight", "sum_of_squares", partner, {"x": (((0, 2, 0),),)})
    wanted = torch.tensor([3.0, 8.0]) / (169 / 4 + 0.5) ** 0.5
    assert torch.allclose(module(torch.tensor([3.0, 4.0])), wanted)


def test_sum_of_squares_does_not_count_padding() -> None:
    """This rank has [3] and a zero of padding, the other [0, 12]: the mean square is 153 / 3."""
    partner = Partner([torch.tensor([144.0]), torch.tensor([2.0])])
    module = around(Norm(), "weight", "sum_of_squares", partner, {"x": (((2, 3, 1),),)})
    wanted = torch.tensor([3.0, 0.0]) / (153 / 3 + 0.5) ** 0.5
    assert torch.allclose(module(torch.tensor([3.0, 0.0])), wanted)


@pytest.mark.parametrize(
    ("tensors", "regions"),
    [
        (("experts.2.down", "experts.3.down"), {"experts.2.down": (((0, 1, 0),),) * 2}),
        (("experts.down",), {"experts.down": (((2, 4, 0),), ((0, 1, 0),), ((0, 1, 0),))}),
    ],
    ids=["by name", "stacked"],
)
def test_combine_sends_tokens_to_own_experts_only(tensors: tuple[str, ...], regions: dict[str, Any]) -> None:
    """Experts 2 and 3 of four are here; the first token goes to 1 and 3, the second to 2 and 3."""
    other = torch.tensor([[100.0], [0.0]])
    module = around(Experts([2.0, 3.0]), "down_proj", "combine", Partner([other]), regions, *tensors)
    weights = torch.tensor([[0.5, 0.5], [0.25, 0.75]])
    assert module(torch.ones(2, 1), torch.tensor([[1, 3], [2, 3]]), weights).tolist() == [[101.5], [2.75]]


class SortedExperts(nn.Module):
    """Expert i multiplies its tokens by the i-th number."""

    def __init__(self, numbers: list[float]) -> None:
        super().__init__()
        self.down_proj = nn.Parameter(torch.tensor(numbers))
        self.num_experts = 4

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return hidden * self.down_proj.repeat_interleave(len(hidden) // len(self.down_proj))[:, None]


def test_combine_of_experts_that_each_take_all_tokens() -> None:
    """Experts 1 and 3 of four are here, with two tokens each; what is theirs alone is computed."""
    regions = {"experts.down": (((1, 2, 0), (3, 4, 1)), ((0, 1, 0),), ((0, 1, 0),))}
    other = torch.tensor([[9.0], [9.0], [0.0], [0.0], [9.0], [9.0], [0.0], [0.0]])
    module = around(SortedExperts([2.0, 3.0]), "down_proj", "combine", Partner([other]), regions, "experts.down")
    tokens = torch.arange(8.0)[:, None]
    assert module(tokens).flatten().tolist() == [9.0, 9.0, 4.0, 6.0, 9.0, 9.0, 18.0, 21.0]


def test_a_collective_that_nothing_is_known_of() -> None:
    with pytest.raises(ValueError, match="a collective that nothing is known of: scatter of x"):
        around(nn.Linear(1, 1), "weight", "scatter", Partner([]), {})
