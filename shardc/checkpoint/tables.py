"""A tensor table: the config and the headers of a published checkpoint, in one small JSON file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from shardc.checkpoint.file_findings import Fault, broken_file, broken_tensors, quoted, shown
from shardc.checkpoint.headers import Header
from shardc.checkpoint.json_text import JsonFile
from shardc.checkpoint.tensor_groups import TensorGroup, parse_group
from shardc.diagnostics import Diagnostic
from shardc.spec.dtypes import nbytes

MAX_TENSORS = 5_000_000
"""Tensors that one table may hold: some 25 times the largest published checkpoint."""

_FIX = "correct the table, or record the checkpoint again"


def table_headers(table: JsonFile) -> tuple[dict[str, Header] | None, list[Diagnostic]]:
    """The header of every tensor of a table by name, in the table's order; faults of the table are SHD406."""
    groups, findings = _parse_groups(table)
    if findings:
        return None, findings
    if sum(group.count for group in groups) > MAX_TENSORS:
        finding = broken_file(
            table.path, "holds too many tensors", expected=f"at most {MAX_TENSORS:,}", found="more", help=_FIX
        )
        return None, [finding]
    headers, faults = _expand(groups)
    findings = broken_tensors(table.path, faults, help=_FIX) or _check_totals(table, groups)
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


def _expand(groups: Iterable[TensorGroup]) -> tuple[dict[str, Header], list[Fault]]:
    headers: dict[str, Header] = {}
    faults: list[Fault] = []
    for group in groups:
        names = group.names()
        expanded = dict.fromkeys(names, group.header)
        if len(expanded) != len(names):
            [(name, _)] = Counter(names).most_common(1)
            faults.append(_repeated(name, "its own group"))
        if not headers.keys().isdisjoint(expanded):
            faults.append(_repeated(next(name for name in expanded if name in headers), "an earlier group"))
        headers.update(expanded)
    return headers, faults


def _repeated(name: str, place: str) -> Fault:
    return Fault(name, "is named twice", "each tensor in one group", f"it is also in {place}")


def _check_totals(table: JsonFile, groups: Sequence[TensorGroup]) -> list[Diagnostic]:
    """The totals that a table states, `n_tensors` and `bytes`, against those of its groups."""
    totals = {
        "n_tensors": sum(group.count for group in groups),
        "bytes": sum(group.count * nbytes(*group.header) for group in groups),
    }
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
