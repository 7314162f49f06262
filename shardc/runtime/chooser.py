"""The formats of many tensors: of those that are alike, in the spec and in the file, only the first is looked into."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from functools import partial
from operator import itemgetter
from typing import NamedTuple

from shardc.runtime.choices import Choice, Headers, choose
from shardc.runtime.errors import Finding, ShardError
from shardc.runtime.settling import Facts
from shardc.runtime.tensors import DENSE, Family, Formats, Tensor, stem_of

Names = tuple[str, ...]  # those that a file may have for one tensor, its own first
Form = tuple[tuple[str, tuple[int, ...]] | None, ...]  # dtype and shape under each name; None where there is none


class Chosen(NamedTuple):
    """The choice of each tensor by name, None where the file has none of it; and what forbids to choose."""

    choices: dict[str, Choice | None]
    faults: dict[str, tuple[Finding, ...]]


class Chooser:
    """Chooses the format of each tensor as `choose` does; what it found of a family serves the others of it."""

    def __init__(self, formats: Formats, headers: Headers | None, facts: Mapping[str, Facts]) -> None:
        self.formats, self.headers, self.facts = formats, headers, facts
        self.words = {name.rpartition(".")[2] for name in headers or ()}

    def choose(self, tensors: Collection[Tensor]) -> Chosen:
        """The choices of tensors, in their order."""
        groups: dict[tuple[Family, str], list[str]] = defaultdict(list)
        for name, family in tensors:
            groups[family, name[len(stem_of(name)) :]].append(name)
        chosen = Chosen(dict.fromkeys(name for name, _ in tensors), {})
        for (family, own_end), names in groups.items():
            self.choose_group(family, own_end, names, chosen)
        return chosen

    def choose_group(self, family: Family, own_end: str, names: list[str], chosen: Chosen) -> None:
        """The choices of the tensors of a family whose names end alike: `own_end` is what follows their stems."""
        stems = [name.removesuffix(own_end) for name in names]
        ends = self.other_ends(family, own_end)
        columns = [names, *([f"{before}{stem}{after}" for stem in stems] for before, after in ends)]
        header_of = (self.headers or {}).get
        forms = zip(*([header and header[:2] for header in map(header_of, column)] for column in columns), strict=True)
        alike: dict[Form, list[Names]] = defaultdict(list)
        for form, row in zip(forms, zip(*columns, strict=True), strict=True):
            alike[form].append(row)
        for rows in alike.values():
            self.choose_alike(family, rows, chosen)

    def choose_alike(self, family: Family, rows: list[Names], chosen: Chosen) -> None:
        """The choices of the tensors of a family, by the names of each, of which the file has the same in all."""
        try:
            first = choose(Tensor(rows[0][0], family), self.formats, self.headers, self.facts)
        except ShardError as error:
            chosen.faults[rows[0][0]] = error.findings
            for row in rows[1:]:
                self.choose_alike(family, [row], chosen)
            return
        if first:
            choice = partial(tuple.__new__, Choice)  # `Choice` itself takes three times as long
            taken = map(those(list(map(rows[0].index, first.names))), rows)
            for row, names in zip(rows, taken, strict=True):
                chosen.choices[row[0]] = choice((names, first.way))

    def other_ends(self, family: Family, own_end: str) -> list[tuple[str, str]]:
        """What stands before and after the stem in the names, besides its own, that the file may have for a tensor.

        They are those of its parts in any format; not those whose last word no name of the file has.
        """
        parts = [part.ends for name in family.formats if name != DENSE for part in self.formats[name].parts]
        may_be = [end for end in parts if self.headers is None or self.is_word(end[1])]
        return [end for end in dict.fromkeys(may_be) if end != ("", own_end)]

    def is_word(self, end: str) -> bool:
        """Whether a name of the file may end so: its last word is the file's, or begins before the end."""
        return "." not in end or end.rpartition(".")[2] in self.words


def those(indexes: list[int]) -> Callable[[Names], Names]:
    """What takes the names at these places out of a row of them."""
    if len(indexes) > 1:
        return itemgetter(*indexes)
    [index] = indexes
    return lambda names: (names[index],)
