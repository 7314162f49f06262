"""What the processes of a proof tell each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from msgspec import Struct, field

Coords = Mapping[str, int]
#: By name in the file, for each dim of the tensor, the elements [start, stop) that the rank keeps, in their order.
Regions = Mapping[str, Sequence[Sequence[tuple[int, ...]]]]


class Task(Struct, frozen=True):
    """What every rank is given.

    folder: where the ranks find each other and leave their outcomes.
    package: the folder that holds the generated package; module: the name of the loader in it.
    ranks: the coordinates of each world rank. collectives: (pattern, what, mesh dim), as the plan lists them.
    tokens: [batch, length] ids; of each batch, `more` tokens are to be added, each the likeliest one.
    watch: whether the ranks keep what each module puts out.
    """

    folder: Path
    package: Path
    module: str
    checkpoint: Path
    config: Mapping[str, Any]
    mesh: Mapping[str, int]
    ranks: tuple[Coords, ...]
    collectives: tuple[tuple[str, str, str], ...]
    tokens: tuple[tuple[int, ...], ...]
    more: int = 0
    watch: bool = True

    def outcome_file(self, rank: int) -> Path:
        """Where a rank leaves what it came to."""
        return self.folder / f"rank{rank}.pt"


class Outcome(Struct, frozen=True):
    """What one rank came to.

    answer: [batch, length, vocab] logits; tokens: those it completed. seen: what its modules put out, by name.
    shapes: of the tensors it was given, by their names in the file.
    module, error: in which module it failed, and why. waited: it failed since another rank was gone.
    """

    rank: int
    answer: torch.Tensor | None = None
    tokens: tuple[tuple[int, ...], ...] = ()
    seen: Mapping[str, torch.Tensor] = field(default_factory=dict)
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    module: str = ""
    error: str = ""
    waited: bool = False
