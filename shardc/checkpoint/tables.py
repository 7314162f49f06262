"""A tensor table: the config and the headers of a published checkpoint, in one small JSON file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from shardc.checkpoint.file_findings import Fault, broken_file, broken_tensors, quoted, shown
from shardc.checkpoint.headers import Header
from shardc.checkpoint.json_text import JsonFile
from shardc.checkpoint.tensor_groups import TensorGroup, parse_group
from shardc.diagnostics import Diagnostic
from shardc.plan.evidence import Grids
from shardc.plan.grid import Grid, grid_of
from shardc.spec.dtypes import nbytes

MAX_TENSORS = 5_000_000
"""Tensors that one table may hold: some 25 times the largest published checkpoint."""

_MAX_ALIKE = 50
_FIX = "correct the table, or record the checkpoint again"


#: Names that are looked up before it pays to write all of a table's out.
_FEW = 2_000


class TableHeaders(Mapping[str, Header]):
    """The headers of a table by name, in its order. Names are written out when one is first asked for.

    `grids` are the same as the table groups them; None where a group's numbers are only part of a word.
    """

    def __init__(self, groups: Sequence[TensorGroup], grids: Grids | None) -> None:
        self.groups = groups
        self.grids = grids
        self._asked = 0

    @cached_property
    def by_name(self) -> dict[str, Header]:
        return {name: group.header for group in self.groups for name in group.names()}

    def __getitem__(self, name: str) -> Header:
        found = self._find(name)
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_name)

    def __len__(self) -> int:
        return sum(group.count for group in self.groups)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._find(name) is not None

    def _find(self, name: str) -> Header | None:
        """A few names are found in the grids; to find many, all are written out."""
        if self.grids is None or self._asked == _FEW or "by_name" in vars(self):
            return self.by_name.get(name)
        self._asked += 1
        found = self.grids.header(name)
        return Header(*found) if found is not None else None

    @property
    def bytes(self) -> int:
        """Bytes of all tensors."""
        return sum(group.count * nbytes(*group.header) for group in self.groups)


def table_headers(table: JsonFile) -> tuple[TableHeaders | None, list[Diagnostic]]:
    """The header of every tensor of a table by name, in the table's order; faults of the table are SHD406."""
    groups, findings = _parse_groups(table)
    if findings:
        return None, findings
    if sum(group.count for group in groups) > MAX_TENSORS:
        finding = broken_file(
            table.path, "holds too many tensors", expected=f"at most {MAX_TENSORS:,}", found="more", help=_FIX
        )
        return None, [finding]
    grids = _grids(groups)
    faults = _repeated_names(groups) if grids is None else []
    headers = TableHeaders(groups, grids)
    findings = broken_tensors(table.path, faults, help=_FIX) or _check_totals(table, headers)
    return (None if findings else headers), findings


def _parse_groups(table: JsonFile) -> tuple[list[TensorGroup], list[Diagnostic]]:
    findings = []
    for key, kind in (("config", dict), ("tensor_groups", list)):
        value = table.data.get(key)
        if not isinstance(value, kind):
            expected = f"`{key}`, {'an object' if kind is dict else 'a list'}"
            found = shown(value) if key in table.data else f"no `{key}`"
            findings.append(_not_a_table(table.path, expected, found))
    values = table.data.get("tensor_groups")
    if findings or not isinstance(values, list):
        return [], findings
    parsed = [parse_group(value, f"tensor_groups[{number}]") for number, value in enumerate(values)]
    faults = [group for group in parsed if isinstance(group, Fault)]
    groups = [group for group in parsed if isinstance(group, TensorGroup)]
    return groups, broken_tensors(table.path, faults, help=_FIX)


def _not_a_table(path: Path, expected: str, found: str) -> Diagnostic:
    return broken_file(
        path,
        "is not a tensor table",
        expected=expected,
        found=found,
        help="a checkpoint is a directory of config.json and *.safetensors, or a tensor table",
    )


def _grids(groups: Sequence[TensorGroup]) -> Grids | None:
    """The groups as grids; None where one is no grid, names a tensor twice, or is one of many with its template."""
    grids: dict[Grid, Header] = {}
    by_template: dict[str, list[Grid]] = {}
    for group in groups:
        grid = grid_of(group.literals, [[n for run in runs for n in run] for runs in group.indices])
        if grid is None or any(len(set(numbers)) != len(numbers) for numbers in grid.places):
            return None
        alike = by_template.setdefault(grid.template, [])
        if len(alike) >= _MAX_ALIKE or any(grid.overlaps(other) for other in alike):
            return None
        alike.append(grid)
        grids[grid] = group.header
    return Grids(grids)


def _repeated_names(groups: Iterable[TensorGroup]) -> list[Fault]:
    """Tensors that a table names twice, found by writing all names out."""
    seen: set[str] = set()
    faults: list[Fault] = []
    for group in groups:
        names = group.names()
        expanded = dict.fromkeys(names)
        if len(expanded) != len(names):
            [(name, _)] = Counter(names).most_common(1)
            faults.append(_repeated(name, "its own group"))
        if not seen.isdisjoint(expanded):
            faults.append(_repeated(next(name for name in expanded if name in seen), "an earlier group"))
        seen.update(expanded)
    return faults


def _repeated(name: str, place: str) -> Fault:
    return Fault(name, "is named twice", "each tensor in one group", f"it is also in {place}")


def _check_totals(table: JsonFile, headers: TableHeaders) -> list[Diagnostic]:
    """The totals that a table states, `n_tensors` and `bytes`, against those of its groups."""
    totals = {"n_tensors": len(headers), "bytes": headers.bytes}
    return [
        broken_file(
            table.path,
            f"states {quoted(key)} that its groups do not have",
            expected=f"{total}",
            found=shown(table.data[key]),
            help=_FIX,
        )
        for key, total in totals.items()
        if key in table.data and table.data[key] != total
    ]
