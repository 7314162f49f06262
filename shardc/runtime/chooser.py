"""The formats of many tensors: of those that are alike, in the spec and in the file, only the first is looked into."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import NamedTuple

from shardc.runtime.choices import Choice, Headers, Way, choose
from shardc.runtime.settling import Facts
from shardc.runtime.tensors import DENSE, Family, Formats, Tensor

Found = tuple[tuple[str, tuple[int, ...]] | None, ...]  # dtype and shape under each name; None where there is none


class Known(NamedTuple):
    """A way, and what takes its names out of those that a tensor of the family may have in the file."""

    way: Way
    taken: Callable[[list[str]], tuple[str, ...]]


class Chooser:
    """Chooses the format of each tensor as `choose` does; what it found of a family serves the others of it."""

    def __init__(self, formats: Formats, headers: Headers | None, facts: Mapping[str, Facts]) -> None:
        self.formats, self.headers, self.facts = formats, headers, facts
        self.words = {name.rpartition(".")[2] for name in headers or ()}
        self.ends: dict[tuple[Family, str], list[tuple[str, str]]] = {}
        self.known: dict[tuple[Family, Found], Known | None] = {}

    def choose(self, tensor: Tensor) -> Choice | None:
        """The choice of one tensor; None where the file has none of it. Raises what `choose` raises."""
        name, family = tensor
        stem = tensor.stem
        own_end = name[len(stem) :]
        ends = self.ends.get((family, own_end)) or self.ends_of(family, own_end)
        names = [f"{before}{stem}{after}" for before, after in ends]
        found = tuple([header and header[:2] for header in map((self.headers or {}).get, names)])
        try:
            known = self.known[family, found]
        except KeyError:
            known = self.known[family, found] = self.look_into(tensor, names)
        return Choice(known.taken(names), known.way) if known else None

    def look_into(self, tensor: Tensor, names: list[str]) -> Known | None:
        """How the first tensor of a family is stored that the file has so, or None. Raises what `choose` raises."""
        choice = choose(tensor, self.formats, self.headers, self.facts)
        return Known(choice.way, those(list(map(names.index, choice.names)))) if choice else None

    def ends_of(self, family: Family, own_end: str) -> list[tuple[str, str]]:
        """What stands before and after the stem in the names that the file may have for a tensor.

        They are its own, and those of its parts in any format; not those whose last word no name of the file has.
        """
        parts = [part.ends for name in family.formats if name != DENSE for part in self.formats[name].parts]
        may_be = [end for end in parts if self.headers is None or self.is_word(end[1])]
        ends = self.ends[family, own_end] = list(dict.fromkeys([("", own_end), *may_be]))
        return ends

    def is_word(self, end: str) -> bool:
        """Whether a name of the file may end so: its last word is the file's, or begins before the end."""
        return "." not in end or end.rpartition(".")[2] in self.words


def those(indexes: list[int]) -> Callable[[list[str]], tuple[str, ...]]:
    """What takes the names at these places out of a list."""
    if len(indexes) > 1:
        return itemgetter(*indexes)
    [index] = indexes
    return lambda names: (names[index],)
