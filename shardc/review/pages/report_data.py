"""A report as plain data: what every tensor, axis and rank of one checkpoint is on each mesh that is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shardc.layout.evaluate import PRESENT
from shardc.layout.expr import Num
from shardc.layout.show import show
from shardc.plan.bound import Bound
from shardc.plan.compile import Compiled
from shardc.plan.resolved import Loop
from shardc.review.pages.axis_rows import axis_data, axis_rows
from shardc.review.pages.cut_table import CutTable
from shardc.review.pages.kept import Kept
from shardc.review.pages.mesh_data import mesh_data, rank_bytes
from shardc.review.pages.size_strip import size_strips
from shardc.review.pages.tensor_rows import TensorRow, row_data, tensor_rows
from shardc.spec.dtypes import nbytes

_LONGEST_VALUE, _MOST_ABSENT = 120, 50


def report_data(
    checkpoint: str, compiled: Sequence[Compiled], shown: int, claimed: Mapping[str, Sequence[int]]
) -> dict[str, object]:
    """The data of the page. `compiled` are plans of one bound spec without faults, `shown` the one it opens with.

    `claimed` has the sizes that the spec's target claims for each mesh dim. Dims and rows are half-open ranges.
    """
    plans = [one.plan for one in compiled if one.plan is not None]
    bound = plans[0].bound
    table = CutTable()
    axes = axis_rows(plans, table)
    numbers = {key: i for i, row in enumerate(axes) for key in row.keys}
    rows = tensor_rows(plans, table)
    groups = list(dict.fromkeys(row.family.entry.group for row in rows))
    kept: dict[Kept, int] = {}
    meshes = []
    for i, one in enumerate(compiled):
        numbered = [[*row.cuts[i], kept.setdefault(row.kept[i], len(kept))] for row in rows]
        meshes.append(
            {**mesh_data(one, [axis.cuts[i] for axis in axes], numbered), "bytes": rank_bytes(plans[i], rows, i)}
        )
    return {
        "spec": bound.resolved.spec.name,
        "checkpoint": checkpoint,
        "architectures": bound.resolved.spec.architectures,
        "about": bound.resolved.spec.about,
        "tensors": sum(row.count for row in rows),
        "all": None if bound.evidence.headers is None else len(bound.evidence.headers),
        "bytes": sum(_file_bytes(row) for row in rows),
        "groups": [_group(bound, group) for group in groups],
        "axes": [axis_data(axis, bound) for axis in axes],
        "rows": [row_data(row, bound, groups.index(row.family.entry.group), numbers) for row in rows],
        "cuts": table.data(),
        "kept": [one.data() for one in kept],
        "meshes": meshes,
        "shown": shown,
        "strips": size_strips(bound, claimed),
        "ignored": [[ignore.name, ignore.because] for ignore in bound.resolved.spec.ignore],
        "absent": _absent(bound),
        "symbols": [[name, _value(value)] for name, value in bound.values.items() if name != PRESENT],
    }


def _file_bytes(row: TensorRow) -> int:
    return nbytes(row.part.dtype, [dim.size for dim in row.dims]) * row.count


def _group(bound: Bound, name: str) -> dict[str, object]:
    """Where a group stands and which indices it runs over."""
    entry = next(entry for entry in bound.resolved.entries if entry.group == name)
    source = bound.resolved.spec.groups[name]
    return {"name": name, "at": source.at or "", "for": [_loop(loop) for loop in entry.loops]}


def _loop(loop: Loop) -> str:
    """`layer in 0..num_layers`, `expert in experts`."""
    if loop.axis is not None and not loop.is_part:
        return f"{loop.index} in {loop.axis}"
    start = "0" if loop.start == Num(0) else show(loop.start)
    return f"{loop.index} in {start}..{show(loop.stop)}"


def _absent(bound: Bound) -> list[list[str]]:
    """Tensors that the file lacks, being tied to another; the first of very many."""
    every = [[name, twin] for name, twin in bound.absent.items()]
    more = len(every) - _MOST_ABSENT
    return every[:_MOST_ABSENT] + ([[f"… and {more} more", ""]] if more > 0 else [])


def _value(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"
