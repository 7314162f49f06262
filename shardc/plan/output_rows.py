"""The outputs of a rank for a reader: one row for those that are built alike, and what each is built of."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from math import prod

from msgspec import Struct

from shardc.plan.names import starred
from shardc.plan.output_layout import elements
from shardc.plan.output_ranks import LocalOutput, outputs
from shardc.plan.plan import Coords, Plan
from shardc.plan.resolved import Output
from shardc.spec.dtypes import SIZES


class OutputRow(Struct, frozen=True):
    """Outputs of one entry with one local shape; `of` says what they are built of."""

    output: str
    count: int
    local_shape: tuple[int, ...]
    dtype: str
    of: str


def output_rows(plan: Plan, rank: Coords, tensors: str = "*") -> list[OutputRow]:
    """The rank's rows in the order of the spec."""
    found: dict[tuple[object, ...], OutputRow] = {}
    for one in _matching(plan, rank, tensors):
        layout = one.layout
        name = starred(layout.named(layout.built.output.pattern))
        key = (name, layout.shape, layout.dtype)
        count = found[key].count if key in found else 0
        found[key] = OutputRow(name, count + 1, layout.shape, layout.dtype, _of(layout.built.output))
    return list(found.values())


def output_data(plan: Plan, rank: Coords, tensors: str = "*") -> Iterator[dict[str, object]]:
    """The same, one by one, as data. `tensors` of it are the file's, in order; for a stack, element by element."""
    for one in _matching(plan, rank, tensors):
        layout = one.layout
        size = SIZES[layout.dtype]
        written = sum(elements(piece.to) for piece in layout.pieces) * (1 if layout.stacked is None else layout.stacked)
        yield {
            "name": one.name,
            "load_dtype": layout.dtype,
            "local_shape": list(layout.shape),
            "stacked": layout.stacked is not None,
            "tensors": [name for names in one.members for name in names],
            "local_bytes": prod(layout.shape) * size,
            "padding_bytes": (prod(layout.shape) - written) * size,
        }


def _matching(plan: Plan, rank: Coords, tensors: str) -> Iterator[LocalOutput]:
    return (one for one in outputs(plan, rank) if tensors == "*" or fnmatchcase(one.name, tensors))


def _of(output: Output) -> str:
    """`q_proj.weight, k_proj.weight`, and what is done with them besides."""
    names = ", ".join(f"{member.entry.path[-1]}{' permuted' if member.runs else ''}" for member in output.members)
    if output.by is not None:
        return f"{names} by {output.by}"
    return f"{names} of each {output.stack}" if output.stack is not None else names
