"""The table of a plan sheet: a column for each size of tp, and a line for each tensor, sum of bytes and contract."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shardc.layout.show import show
from shardc.plan.as_text import size, table
from shardc.plan.resolved import Contract
from shardc.plan.sweep import reasons
from shardc.review.sheets.cuts import Cuts, OnMesh, named
from shardc.review.sheets.held_bytes import Bytes, RankBytes
from shardc.review.sheets.outputs import output_shapes
from shardc.review.sheets.rows import STEP, Row
from shardc.source import Path_

#: A column's least width: `* 154880 x 4096` is as wide as `2048`, so that most changes of a shape move no other line.
_LEAST = 16

_Line = tuple[str, ...]


def table_lines(cuts: Cuts, rows: Sequence[Row], columns: Sequence[OnMesh], claimed: Sequence[OnMesh]) -> list[str]:
    """The table. `rows` are those of stored tensors; meshes that are `claimed` and no column have a line of bytes."""
    blank: _Line = ("",) * (len(columns) + 3)
    counted = Bytes(cuts)
    headings = [_heading(column, column in claimed).rjust(_LEAST) for column in columns]
    sections = [
        [_line(row) for row in rows],
        [_line(row) for row in output_shapes(columns)],
        [(name, "", *["-" for _ in columns], f"tied to {twin}") for name, twin in cuts.bound.absent.items()],
        [*_bytes(counted, columns), *_other_meshes(counted, columns, claimed)],
        list(_contracts(cuts.bound.resolved.contracts, columns)),
    ]
    lines: list[_Line] = [("tensor", "dtype", *headings, "shard")]
    for i, section in enumerate(section for section in sections if section):
        lines += [blank, *section] if i else section
    return table(lines, right=set(range(2, len(columns) + 2)), step=STEP)


def _heading(column: OnMesh, claimed: bool) -> str:
    """`tp=8`, in brackets where nobody claims it."""
    said = f"tp={column.mesh['tp']}"
    return said if claimed else f"({said})"


def _line(row: Row) -> _Line:
    return row.label, row.dtype, *row.cells, row.how


def _bytes(counted: Bytes, columns: Sequence[OnMesh]) -> Iterator[_Line]:
    """Bytes of ranks; what rank 0 holds that others hold too; and the zero fill of the rank with the most, if any."""
    held = [counted.on(column) if column.works else None for column in columns]
    yield "per rank", "", *(_between(one) if one else "-" for one in held), ""
    yield "replicated", "", *(size(counted.replicated(column)) if column.works else "-" for column in columns), ""
    if any(one is not None and one.padding for one in held):
        yield "padding, at most", "", *(size(one.padding) if one else "-" for one in held), ""


def _between(of: RankBytes) -> str:
    """`1.87 GiB`; the least and the most where ranks differ."""
    least, most = size(of.least), size(of.most)
    if of.least == of.most:
        return least
    return f"{least.split()[0]}..{most}" if least.split()[1] == most.split()[1] else f"{least}..{most}"


def _other_meshes(counted: Bytes, columns: Sequence[OnMesh], claimed: Sequence[OnMesh]) -> Iterator[_Line]:
    """`per rank, ep=4`: the claimed meshes that are no column."""
    cells: dict[str, dict[int, str]] = {}
    for one in (one for one in claimed if one not in columns):
        others = {dim: n for dim, n in one.mesh.items() if dim != "tp"}
        cell = _between(counted.on(one)) if one.works else reasons(one.compiled)[0].split()[0]
        cells.setdefault(named(others), {})[one.mesh["tp"]] = cell
    for others_, by_tp in cells.items():
        yield f"per rank, {others_}", "", *(by_tp.get(column.mesh["tp"], "") for column in columns), ""


def _contracts(contracts: Sequence[Contract], columns: Sequence[OnMesh]) -> Iterator[_Line]:
    """A line for each parameter of a contract: its value on the first rank, or a code where it does not hold."""
    cells: dict[tuple[Path_, str], dict[int, str]] = {}
    for i, column in enumerate(columns):
        for held in column.compiled.holds:
            for name, value in held.values.items():
                cells.setdefault((held.contract.path, name), {})[i] = str(value)
        for fault in column.compiled.contracts:
            for name in fault.contract.given:
                code = fault.error.code if fault.error else "SHD301"
                cells.setdefault((fault.contract.path, name), {})[i] = code
    for contract in contracts:
        for name in contract.given:
            by_column = cells.get((contract.path, name))
            if by_column is not None:
                shown = (by_column.get(i, "-") for i in range(len(columns)))
                yield f"{contract.use}: {name}", "", *shown, show(contract.require)
