"""A rank's modules are given what belongs to the heads that the plan's regions let it keep."""

from __future__ import annotations

import torch
from torch import nn

from shardc.prove.family import Family, PerHead
from shardc.prove.heads import heads_of, take_heads


class Attention(nn.Module):
    """Gives back what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.head_dim = 2
        self.dense = nn.Linear(4, 6)

    def forward(self, hidden: torch.Tensor, alibi: torch.Tensor | None, mask: torch.Tensor | None = None) -> object:
        return alibi, mask


FAMILY = Family(("toy",), per_head={"Attention": PerHead(("alibi", "mask"), "dense.weight")})
HIDDEN = torch.zeros(2, 5, 6)


def attention() -> nn.Module:
    """Of a model of 4 heads of 2 channels; here are heads 1 and 3."""
    model = nn.Sequential(Attention())
    take_heads(model, {"0.dense.weight": ("a.dense.weight",)}, {"a.dense.weight": [[(0, 6)], [(2, 4), (6, 8)]]}, FAMILY)
    return model[0]


def test_heads_of_regions_keep_the_regions_order() -> None:
    assert heads_of([(8, 16), (0, 4)], 4) == [2, 3, 0]


def test_entries_of_the_heads_here_by_batch() -> None:
    alibi, mask = attention()(
        HIDDEN, alibi=torch.arange(8.0)[:, None, None], mask=torch.arange(8.0).reshape(2, 4, 1, 1)
    )
    assert alibi.flatten().tolist() == [1, 3, 5, 7]
    assert mask.flatten().tolist() == [1, 3, 5, 7]
    assert mask.shape == (2, 2, 1, 1)


def test_what_all_heads_share_stays() -> None:
    alibi, mask = attention()(HIDDEN, alibi=None, mask=torch.ones(2, 1, 5, 5))
    assert alibi is None
    assert mask.shape == (2, 1, 5, 5)
