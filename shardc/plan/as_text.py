"""A plan as a table, plain or Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from shardc.layout.show import show
from shardc.layout.split import round_up
from shardc.plan.collectives import at_work
from shardc.plan.compile import Compiled
from shardc.plan.output_rows import OutputRow, output_rows
from shardc.plan.plan import Coords, Plan
from shardc.plan.rows import Row, rows
from shardc.plan.totals import Totals, rank_totals

_HEADINGS = ("tensor", "layers", "full shape", "shard", "per rank", "units/rank", "rank total")
_OUTPUT_HEADINGS = ("output", "layers", "per rank", "built of")


def as_text(compiled: Compiled, rank: Coords, tensors: str = "*") -> str:
    """The table of one rank, then totals, collectives and contracts."""
    plan = compiled.plan
    assert plan is not None
    cells = [_cells(row) for row in rows(plan, rank, tensors)]
    lines = table([_HEADINGS, *cells], right={6})
    built = [_output_cells(row) for row in output_rows(plan, rank, tensors)]
    if built:
        lines += ["", *table([_OUTPUT_HEADINGS, *built], right=set())]
    return "\n".join([*lines, "", *_summary(compiled, plan, rank)])


def as_markdown(compiled: Compiled, rank: Coords, tensors: str = "*") -> str:
    """The same for a pull request."""
    plan = compiled.plan
    assert plan is not None
    lines = ["| " + " | ".join(_HEADINGS) + " |", "|---|---|---|---|---|---|--:|"]
    for row in rows(plan, rank, tensors):
        name, *rest = _cells(row)
        lines.append(f"| `{name}` | " + " | ".join(rest) + " |")
    built = [_output_cells(row) for row in output_rows(plan, rank, tensors)]
    if built:
        lines += ["", "| " + " | ".join(_OUTPUT_HEADINGS) + " |", "|---|---|---|---|"]
        lines += [f"| `{name}` | " + " | ".join(rest) + " |" for name, *rest in built]
    return "\n".join([*lines, "", *(f"{line}  " for line in _summary(compiled, plan, rank))])


def table(lines: Sequence[Sequence[str]], right: set[int], step: int = 1) -> list[str]:
    """Columns two spaces apart, a rule under the first line; the columns in `right` are set to the right.

    Widths are multiples of `step`, so that a cell that grows a little leaves the other lines as they are. With a step
    the rule is as long as the headings: where a column does grow, lines differ in spaces alone.
    """
    widths = [round_up(max(len(line[i]) for line in lines), step) for i in range(len(lines[0]))]

    def row(cells: Sequence[str]) -> str:
        placed = (c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(cells, widths, strict=True)))
        return "  ".join(placed).rstrip()

    headings = ["-" * len(cell.strip()) for cell in lines[0]]
    rule = "  ".join("-" * width for width in widths) if step == 1 else row(headings)
    return [row(lines[0]), rule, *(row(line) for line in lines[1:])]


def shape(dims: tuple[int, ...]) -> str:
    return " x ".join(map(str, dims)) if dims else "scalar"


def size(count: int) -> str:
    """Bytes for people: `1.87 GiB`, `125.2 MiB`."""
    if count >= 2**30:
        return f"{count / 2**30:.2f} GiB"
    return f"{count / 2**20:.1f} MiB" if count >= 2**20 / 20 or count == 0 else f"{count} B"


def _cells(row: Row) -> list[str]:
    count = f"x{row.count}" if row.count != 1 else ""
    return [
        row.tensor,
        count,
        shape(row.full_shape),
        row.kind,
        shape(row.local_shape),
        row.units,
        size(row.totals.local),
    ]


def _output_cells(row: OutputRow) -> list[str]:
    return [row.output, f"x{row.count}" if row.count != 1 else "", shape(row.local_shape), row.of]


def _summary(compiled: Compiled, plan: Plan, rank: Coords) -> list[str]:
    totals = rank_totals(plan, rank)
    tensors = sum(part.count for family in plan.families for part in family.stored.parts)
    mesh = ", ".join(f"{dim}={size_}" for dim, size_ in plan.mesh.items())
    here = ", ".join(f"{dim} rank {rank.get(dim, 0)}" for dim in plan.mesh)
    lines = [f"{tensors} tensors   {_bytes(totals)}", f"mesh {mesh}; shown: {here}"]
    lines += _uneven(plan, rank, totals)
    todo: dict[tuple[str, str], list[str]] = {}
    for one in at_work(plan):
        todo.setdefault((one.what, one.over), []).append(one.pattern)
    lines += [f"{what} over {over}: {', '.join(after)}" for (what, over), after in todo.items()]
    if not todo:
        lines.append("no collectives")
    for held in compiled.holds:
        values = ", ".join(f"{name} = {value}" for name, value in held.values.items())
        lines.append(f"contract {held.contract.use}: {show(held.contract.require)} holds, {values}")
    return lines


def _bytes(totals: Totals) -> str:
    share = 100 * totals.replicated / totals.local if totals.local else 0.0
    padding = f"   padding {size(totals.padding)}" if totals.padding else ""
    return (
        f"full {size(totals.full)}   per rank {size(totals.local)}   "
        f"replicated {size(totals.replicated)} ({share:.2f}% of a rank){padding}"
    )


def _uneven(plan: Plan, rank: Coords, totals: Totals) -> list[str]:
    """A line where ranks hold different amounts."""
    held = {rank_totals(plan, other).local for other in plan.ranks()} if len(list(plan.ranks())) <= 64 else set()
    if len(held) <= 1:
        return []
    return [f"ranks differ: {size(min(held))} to {size(max(held))}"]
