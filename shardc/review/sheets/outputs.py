"""The outputs of a plan sheet: their shapes, and which rows of their members change places."""

from __future__ import annotations

from collections.abc import Sequence

from shardc.layout.permutation import Run, Turn
from shardc.layout.regions import Scope, size
from shardc.plan.as_text import shape, table
from shardc.plan.bound import Bound
from shardc.plan.names import starred
from shardc.plan.output_rows import output_rows
from shardc.review.sheets.cuts import OnMesh
from shardc.review.sheets.rows import STEP, Row


def output_shapes(columns: Sequence[OnMesh]) -> list[Row]:
    """A row for each output, with its shapes on rank 0."""
    counts: dict[tuple[str, str, str], list[dict[str, int]]] = {}
    for i, column in enumerate(columns):
        for one in output_rows(column.plan, dict.fromkeys(column.mesh, 0)) if column.works else ():
            shapes = counts.setdefault((one.output, one.dtype, one.of), [{} for _ in columns])[i]
            shapes[shape(one.local_shape)] = shapes.get(shape(one.local_shape), 0) + one.count
    return [
        Row(name, max(sum(of.values()) for of in by_column), dtype, tuple(_shapes(of) for of in by_column), f"of {of}")
        for (name, dtype, of), by_column in counts.items()
    ]


def _shapes(counts: dict[str, int]) -> str:
    """The shape; those of several layers, where they differ."""
    return ", ".join(counts) or "-"


def moved_lines(bound: Bound) -> list[str]:
    """Rows that change places in an output, in numbers. Each granule of a member is turned alike, on every mesh."""
    lines = []
    for built in bound.outputs.built:
        for member, family in zip(built.output.members, built.families, strict=True):
            said = "; ".join(_moved(run, family.scope) for run in member.runs)
            if said:
                lines.append((starred(built.output.pattern), starred(member.entry.pattern), said))
    return table([("output", "of", "rows that change places"), *dict.fromkeys(lines)], set(), STEP) if lines else []


def _moved(run: Run, scope: Scope) -> str:
    if not run.turns:
        return f"{size(run.count, scope)} rows stay"
    turns = ", ".join(_turned(turn, scope) for turn in run.turns)
    return f"in each {size(run.size, scope)} rows {turns}"


def _turned(turn: Turn, scope: Scope) -> str:
    """`2 x 64 from 0 at 64, 1 go to 0 at 1, 2`: row (i, j) from 0 + 64i + 1j to 0 + 1i + 2j."""
    sizes, strides, to = ([str(size(expr, scope)) for expr in exprs] for exprs in (turn.sizes, turn.strides, turn.to))
    source, place = size(turn.start, scope), size(turn.place, scope)
    return f"{' x '.join(sizes)} from {source} at {', '.join(strides)} go to {place} at {', '.join(to)}"
