"""The largest difference, and the first module that differs."""

from __future__ import annotations

from math import inf, nan

import torch

from shardc.prove.compare import Difference, Differing, by_layer, difference, first_differing, worst
from shardc.prove.task import Outcome

WANTED = {"norm": torch.tensor([2.0, 4.0]), "q": torch.ones(6), "act": torch.ones(6), "o": torch.tensor([1.0, -8.0])}


def outcome(rank: int, **seen: list[float]) -> Outcome:
    return Outcome(rank, seen={name: torch.tensor(values) for name, values in seen.items()})


def test_relative_to_the_largest_of_the_reference() -> None:
    assert difference(torch.tensor([2.0, 3.0]), torch.tensor([2.0, -4.0])) == Difference(7.0, 1.75)
    assert difference(torch.tensor([2.0, 4.0]), torch.tensor([2.0, 4.0])).small


def test_what_is_no_number_is_far_off() -> None:
    assert difference(torch.tensor([nan, 4.0]), torch.tensor([2.0, 4.0])) == Difference(inf, inf)


def test_the_worst_rank_counts_and_one_of_another_shape_is_the_worst() -> None:
    wanted = torch.tensor([1.0, 4.0])
    near, far = Outcome(0, torch.tensor([1.0, 4.0])), Outcome(1, torch.tensor([2.0, 4.0]))
    assert worst([near, far], wanted) == Difference(1.0, 0.25)
    assert worst([near, Outcome(1, torch.tensor([1.0]))], wanted) == Difference(inf, inf)


def test_the_first_that_differs_with_the_parts_before_it() -> None:
    ranks = [outcome(0, norm=[2, 4], q=[1, 1], act=[1, 1], o=[1, -8]), outcome(1, norm=[2, 4], q=[1], o=[1, -6])]
    assert first_differing(ranks, WANTED) == Differing("o", 1, Difference(2.0, 0.25), ("q", "act"))


def test_parts_before_one_that_agrees_are_not_told() -> None:
    ranks = [outcome(0, norm=[2], q=[1, 1], act=[1] * 6, o=[1, -6])]
    assert first_differing(ranks, WANTED) == Differing("o", 0, Difference(2.0, 0.25), ())


def test_none_differs() -> None:
    assert first_differing([outcome(0, norm=[2, 4], o=[1, -8])], WANTED) is None


def test_by_layer_on_the_rank_that_is_farthest_off() -> None:
    wanted = {name: torch.tensor([2.0]) for name in ("h.0.mlp.experts.3", "h.0", "h.1", "h.2", "norm")}
    ranks = [Outcome(0, seen={**wanted, "h.2": torch.ones(2)}), Outcome(1, seen={**wanted, "h.1": torch.tensor([3.0])})]
    assert by_layer(ranks, wanted) == [
        Differing("h.0", 0, Difference(0.0, 0.0)),
        Differing("h.1", 1, Difference(1.0, 0.5)),
        Differing("h.2", 1, Difference(0.0, 0.0)),
    ]
