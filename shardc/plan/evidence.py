"""What a plan is made from besides the spec: a config, and, where there are any, the headers of a checkpoint."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import translate
from functools import cached_property

from msgspec import Struct, field

from shardc.plan.grid import PLACE, Grid, grid_of

_NUMBER_OR_STAR = re.compile(r"[0-9*]+")
#: (dtype, full shape as stored) of a tensor of the file.
Header = tuple[str, tuple[int, ...]]


class Grids(Struct, frozen=True, dict=True):
    """The headers of a tensor table as it groups them; no two grids share a name."""

    headers: Mapping[Grid, Header]

    @cached_property
    def by_template(self) -> Mapping[str, Sequence[Grid]]:
        out: dict[str, list[Grid]] = {}
        for grid in self.headers:
            out.setdefault(grid.template, []).append(grid)
        return out

    def holder(self, names: Grid) -> Grid | None:
        """The one of the table's grids that has all these names, if there is one."""
        if names in self.headers:
            return names
        return next((grid for grid in self.by_template.get(names.template, ()) if grid.contains(names)), None)

    def matching(self, glob: str) -> Iterator[Grid]:
        """The grids, in the table's order, that may have a name that the glob matches."""
        loose = ".".join("*" if _NUMBER_OR_STAR.fullmatch(word) else word for word in glob.split("."))
        matches = re.compile(translate(loose)).match
        return (grid for grid in self.headers if matches(grid.template.replace(PLACE, "0")))

    def header(self, name: str) -> Header | None:
        """The header of one tensor, found without a name being written out; None where the table lacks it."""
        one = grid_of([name], ())
        holder = self.holder(one) if one is not None else None
        return self.headers[holder] if holder is not None else None


def _no_source(path: str) -> str:
    return path


class Evidence(Struct, frozen=True):
    """A config.json, and the headers by tensor name; `source` tells where a config key stands (`file:line`).

    `grids` are the same headers, where a table has them in groups: then few names need to be written out.
    """

    name: str
    config: Mapping[str, object]
    headers: Mapping[str, Header] | None = None
    source: Callable[[str], str] = field(default=_no_source)
    grids: Grids | None = None

    def first_named(self, glob: str) -> tuple[str, Header] | None:
        """The first tensor of the file whose name the glob matches; of a table few names are written out."""
        matches = re.compile(translate(glob)).match
        if self.grids is None:
            headers = self.headers or {}
            first = next(filter(matches, headers), None)
            return None if first is None else (first, headers[first])
        written = ((name, grid) for grid in self.grids.matching(glob) for name in grid.names())
        return next(((name, self.grids.headers[grid]) for name, grid in written if matches(name)), None)
