"""The plan's collectives, put around the modules of a rank's model. Nothing else passes between ranks.

A collective names a tensor of the file; it is done around the module that has the tensor as its weight.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from msgspec import Struct
from torch import nn

from shardc.prove.family import Family
from shardc.prove.groups import Line
from shardc.prove.task import Regions

_PLACE = re.compile(r"\\\{\w+\\\}")


class Owned(Struct, frozen=True):
    """A module, its name, and the file's tensors behind the weight that a collective speaks of."""

    module: nn.Module
    name: str
    tensors: tuple[str, ...]


def install(
    model: nn.Module,
    sources: Mapping[str, tuple[str, ...]],
    collectives: Iterable[tuple[str, str, str]],
    lines: Mapping[str, Line],
    regions: Regions,
    family: Family,
    vocab: int,
) -> None:
    """Hooks for every collective of the plan. `sources` has the file's names behind each weight of the model."""
    done: set[tuple[str, str, str]] = set()
    for pattern, what, over in collectives:
        matches = re.compile(_PLACE.sub(r"(\\d+)", re.escape(pattern))).fullmatch
        for owned in _owners(model, sources, matches):
            if (owned.name, what, over) in done:
                continue
            done.add((owned.name, what, over))
            line = lines[over]
            match what:
                case "all_reduce":
                    _sum_output(owned.module, line)
                case "combine":
                    _dispatch(owned, matches, regions)
                    _sum_output(owned.module, line)
                case "masked_all_reduce":
                    _look_up(owned, line, regions)
                case "gather":
                    _gather(owned.module, line, vocab)
                case "sum_of_squares":
                    _share_statistic(owned, line, regions, family)
                case _:
                    raise ValueError(f"the plan lists a collective that nothing is known of: {what} of {pattern}")


def _owners(model: nn.Module, sources: Mapping[str, tuple[str, ...]], matches: Any) -> Iterable[Owned]:
    """Every module whose weight comes of a tensor that the pattern matches."""
    for weight, tensors in sources.items():
        mine = tuple(name for name in tensors if matches(name))
        if mine:
            path = weight.rpartition(".")[0]
            yield Owned(model.get_submodule(path), path, mine)


def _first(output: Any, new: torch.Tensor) -> Any:
    return (new, *output[1:]) if isinstance(output, tuple) else new


def _sum_output(module: nn.Module, line: Line) -> None:
    def hook(module: nn.Module, args: Any, output: Any) -> Any:
        return _first(output, line.sum(output[0] if isinstance(output, tuple) else output))

    module.register_forward_hook(hook)


def _gather(module: nn.Module, line: Line, vocab: int) -> None:
    """Concatenates the ranks' logits; what is beyond the vocabulary is padding."""

    def hook(module: nn.Module, args: Any, output: Any) -> Any:
        return line.concatenate(output)[..., :vocab]

    module.register_forward_hook(hook)


def _look_up(owned: Owned, line: Line, regions: Regions) -> None:
    """Each rank looks its own ids up, takes zeros for others, and the ranks sum."""
    at = [region for region in regions[owned.tensors[0]][0] if region[0] < region[1]]
    start, stop = (at[0][0], at[-1][1]) if at else (0, 0)
    others: list[torch.Tensor] = []

    def before(module: nn.Module, args: Any) -> Any:
        ids = args[0]
        others.append((ids < start) | (ids >= stop))
        return (torch.where(others[-1], 0, ids - start), *args[1:])

    def after(module: nn.Module, args: Any, output: Any) -> Any:
        return line.sum(output.masked_fill(others.pop()[..., None], 0.0))

    owned.module.register_forward_pre_hook(before)
    owned.module.register_forward_hook(after)


def _share_statistic(owned: Owned, line: Line, regions: Regions, family: Family) -> None:
    """A norm over a split dim: the mean square is over all ranks' elements, of which padding is none.

    The module works out its norm with the rank's own mean square m; its output is then scaled by
    sqrt((m + eps) / (M + eps)), with M that of all ranks, which is the norm with M.
    """
    module = owned.module
    squared: Callable[..., torch.Tensor] = family.reduced.get(type(module).__name__, _its_input)
    eps: float = next(getattr(module, name) for name in ("variance_epsilon", "eps") if hasattr(module, name))
    padding = sum(pad for _, _, pad in regions[owned.tensors[0]][0])

    def hook(module: nn.Module, args: Any, output: Any) -> Any:
        x = squared(module, *args).float()
        own = x.pow(2).sum(-1, keepdim=True)
        count = torch.full_like(own, x.shape[-1] - padding)
        mean: torch.Tensor = line.sum(own) / line.sum(count)
        scale = torch.sqrt((own / x.shape[-1] + eps) / (mean + eps))
        return output * scale.to(output.dtype)

    module.register_forward_hook(hook)


def _its_input(module: nn.Module, hidden: torch.Tensor, *_: Any) -> torch.Tensor:
    return hidden


def _dispatch(owned: Owned, matches: Any, regions: Regions) -> None:
    """Tokens that go to experts of other ranks weigh nothing here; experts are counted from the rank's first."""
    here = _experts(owned, matches, regions)
    module: Any = owned.module
    names = list(inspect.signature(type(module).forward).parameters)[1:]
    if len(names) == 1:
        _dispatch_sorted(module, here)
        return
    module.num_experts = len(here)
    index = next(i for i, name in enumerate(names) if "ind" in name)
    weight = next(i for i, name in enumerate(names) if "weight" in name)

    def before(module: nn.Module, args: Any) -> Any:
        changed = list(args)
        own = torch.tensor(here)
        mine = torch.isin(args[index], own)
        changed[index] = torch.where(mine, torch.searchsorted(own, args[index]), 0)
        changed[weight] = args[weight].masked_fill(~mine, 0.0)
        return tuple(changed)

    module.register_forward_pre_hook(before)


def _dispatch_sorted(module: Any, here: Sequence[int]) -> None:
    """Experts that take [experts * tokens, hidden], their weight in it already: others' tokens come out as zeros."""
    experts = module.num_experts

    def before(module: nn.Module, args: Any) -> Any:
        return args[0].view(experts, -1, args[0].shape[-1])[here].flatten(0, 1)

    def after(module: nn.Module, args: Any, output: torch.Tensor) -> torch.Tensor:
        own = output.view(len(here), -1, output.shape[-1])
        return own.new_zeros(experts, *own.shape[1:]).index_copy(0, torch.tensor(here), own).flatten(0, 1)

    module.register_forward_pre_hook(before)
    module.register_forward_hook(after)


def _experts(owned: Owned, matches: Any, regions: Regions) -> list[int]:
    """The experts that this rank has, in the order in which they are stacked: by their names, or by rows of dim 0."""
    name = owned.tensors[0]
    if len(regions[name]) > 2:
        return [i for start, stop, *_ in regions[name][0] for i in range(start, stop)]
    return sorted(int(matches(name).groups()[-1]) for name in owned.tensors)
