"""Names that differ in their numbers alone, as one value: a template, and the numbers at each of its places.

`model.layers.{}.mlp.experts.{}.up_proj.weight` with 0..47 and 0..127 stands for 6,144 names. A spec's tensors and a
table's are such grids; where two are equal, no name has to be written out and looked up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from math import prod

from msgspec import Struct

_NUMBER = re.compile(r"0|[1-9][0-9]*")
_SLOT = "\0"
PLACE = "{}"


class Grid(Struct, frozen=True):
    """`places` has, for each `{}` of the template, its numbers in ascending order.

    Every word of a name (between dots) that is a number is a place. So two grids share a name only if they have the
    same template, and a number in common at each place.
    """

    template: str
    places: tuple[tuple[int, ...], ...]

    @property
    def count(self) -> int:
        return prod(map(len, self.places))

    def names(self) -> list[str]:
        """The names, the last place running fastest."""
        first, *rest = self.template.split(PLACE)
        names = [first]
        for numbers, literal in zip(self.places, rest, strict=True):
            endings = [f"{number}{literal}" for number in numbers]
            names = [name + ending for name in names for ending in endings]
        return names

    def overlaps(self, other: Grid) -> bool:
        """Whether some name is in both."""
        pairs = zip(self.places, other.places, strict=False)
        return self.template == other.template and all(not set(a).isdisjoint(b) for a, b in pairs)

    def contains(self, other: Grid) -> bool:
        """Whether every name of `other` is in this one."""
        pairs = zip(self.places, other.places, strict=False)
        return self.template == other.template and all(set(a).issuperset(b) for a, b in pairs)

    def made_of(self, parts: Sequence[Grid]) -> bool:
        """Whether these grids, all of them contained in this one, have each of its names exactly once."""
        if sum(part.count for part in parts) != self.count:
            return False
        return not any(a.overlaps(b) for i, a in enumerate(parts) for b in parts[:i])

    def renamed(self, rename: Callable[[str], str]) -> Grid:
        """The grid of names beside these, which differ in the words that are no numbers."""
        return Grid(rename(self.template), self.places)


def grid_of(literals: Sequence[str], numbers: Sequence[Iterable[int]]) -> Grid | None:
    """The names `literals[0] n0 literals[1] n1 … literals[k]`; None where a number is only part of a word."""
    words: list[str] = []
    places: list[tuple[int, ...]] = []
    following = iter(numbers)
    for word in _SLOT.join(literals).split("."):
        if word == _SLOT:
            places.append(tuple(sorted(next(following))))
        elif _NUMBER.fullmatch(word):
            places.append((int(word),))
        elif _SLOT in word:
            return None
        words.append(PLACE if word == _SLOT or _NUMBER.fullmatch(word) else word)
    return Grid(".".join(words), tuple(places))
