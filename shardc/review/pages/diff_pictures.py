"""What the page of a diff draws: each tensor that changed, on each mesh on which something comes of it, both sides."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from math import prod

from msgspec import Struct

from shardc.plan.compile import Compiled
from shardc.plan.kinds import axes_of_dims
from shardc.review.diff import MeshChange, Side, SpecChange
from shardc.review.effects import outcome
from shardc.review.pages.axis_rows import axis_data, axis_rows
from shardc.review.pages.cut_table import CutTable
from shardc.review.pages.kept import Kept
from shardc.review.pages.mesh_data import mesh_data, rank_bytes
from shardc.review.pages.shown_meshes import MOST_RANKS
from shardc.review.pages.tensor_rows import TensorRow, row_data, tensor_rows
from shardc.review.wording import mesh_words

#: Tensors of one checkpoint that are drawn; a comparison of more is no longer one for eyes.
MOST_TENSORS = 60


_NUMBER = re.compile(r"[0-9]+")


class Tables:
    """What all pictures of a page have in common."""

    def __init__(self) -> None:
        self.cuts = CutTable()
        self.kept: dict[Kept, int] = {}

    def data(self) -> dict[str, object]:
        return {"cuts": self.cuts.data(), "kept": [one.data() for one in self.kept]}


def pictures(spec: SpecChange, tables: Tables) -> list[dict[str, object]]:
    """For each checkpoint its meshes that are drawn, and the rows of both sides.

    `before` and `after` of a mesh are None where it does not load. `pairs` has the numbers of rows that face each
    other, -1 for none.
    """
    by_checkpoint: dict[str, list[MeshChange]] = {}
    for mesh in spec.meshes:
        if _is_drawn(mesh):
            by_checkpoint.setdefault(mesh.checkpoint, []).append(mesh)
    return [_checkpoint(spec, name, meshes, tables) for name, meshes in by_checkpoint.items()]


def _is_drawn(mesh: MeshChange) -> bool:
    """Whether there is a difference to see on it, in ranks that can be told apart."""
    loads = [side for side in (mesh.before, mesh.after) if side.bytes is not None]
    differs = bool(mesh.cuts) or len(loads) == 1 or "coverage" in mesh.classes
    return bool(loads) and differs and prod(mesh.mesh.values()) <= MOST_RANKS


class _Sided(Struct, frozen=True):
    """One side of all meshes of a checkpoint. `compiled` are those that load, `rows` those that are drawn."""

    compiled: tuple[Compiled, ...]
    every: Sequence[TensorRow]
    rows: Sequence[TensorRow]
    data: dict[str, object]
    axes: Sequence[Sequence[int]]

    def mesh(self, side: Side, tables: Tables) -> dict[str, object] | None:
        """One mesh of it; None where it does not load."""
        if side.bytes is None or side.compiled is None or side.compiled.plan is None:
            return None
        i = self.compiled.index(side.compiled)
        kept = tables.kept
        rows = [[*row.cuts[i], kept.setdefault(row.kept[i], len(kept))] for row in self.rows]
        out = mesh_data(side.compiled, self.axes[i], rows)
        return {**out, "bytes": rank_bytes(side.compiled.plan, self.every, i)}


def _checkpoint(spec: SpecChange, name: str, meshes: Sequence[MeshChange], tables: Tables) -> dict[str, object]:
    wanted = _wanted(spec, meshes)
    before = _sided([mesh.before for mesh in meshes], wanted, tables)
    after = _sided([mesh.after for mesh in meshes], wanted, tables)
    pairs = list(_pairs(before.rows, after.rows))
    return {
        "checkpoint": name,
        "before": before.data,
        "after": after.data,
        "meshes": [_mesh(mesh, before, after, pairs[:MOST_TENSORS], tables) for mesh in meshes],
        "more": max(0, len(pairs) - MOST_TENSORS),
    }


def _mesh(
    mesh: MeshChange, before: _Sided, after: _Sided, pairs: Sequence[tuple[int, int]], tables: Tables
) -> dict[str, object]:
    changed = {cut.pattern for cut in mesh.cuts}
    both = mesh.before.bytes is not None and mesh.after.bytes is not None
    shown = [
        (a, b) for a, b in pairs if not both or a < 0 or b < 0 or {before.rows[a].name, after.rows[b].name} & changed
    ]
    failing = mesh.before if mesh.before.bytes is None else mesh.after
    return {
        "name": mesh_words(mesh.mesh),
        "outcome": outcome(mesh),
        "why": list(failing.reasons) if failing.bytes is None else [],
        "before": before.mesh(mesh.before, tables),
        "after": after.mesh(mesh.after, tables),
        "pairs": shown,
        "words": [[cut.pattern, cut.count, cut.before, cut.after] for cut in mesh.cuts],
    }


class _Wanted(Struct, frozen=True):
    """Which tensors are drawn: by their names, or by an axis that changed; all weights where there are neither.

    `names` has them by their form with `*` for numbers.
    """

    names: Mapping[str, Collection[str]]
    axes: Collection[str]

    def has(self, row: TensorRow) -> bool:
        if not self.names and not self.axes:
            return row.is_main
        first = row.part.first
        if any(row.name == name or fnmatchcase(first, name) for name in self.names.get(_starred(first), ())):
            return True
        mentioned = axes_of_dims(row.family.entry.dims, dict.fromkeys(self.axes)) | set(row.family.selecting)  # type: ignore[arg-type]
        return row.is_main and not mentioned.isdisjoint(self.axes)


def _wanted(spec: SpecChange, meshes: Sequence[MeshChange]) -> _Wanted:
    items = [item for item in spec.tensors if item.classes != ("equal",)]
    names = {cut.pattern for mesh in meshes for cut in mesh.cuts} | {item.name for item in items}
    axes = {item.name.rpartition(".")[2] for item in spec.axes if item.classes != ("equal",)}
    by_form: dict[str, list[str]] = {}
    for name in sorted(names):
        by_form.setdefault(_starred(name), []).append(name)
    return _Wanted(by_form, axes if not names else ())


def _sided(sides: Sequence[Side], wanted: _Wanted, tables: Tables) -> _Sided:
    compiled = tuple(side.compiled for side in sides if side.bytes is not None and side.compiled is not None)
    plans = [one.plan for one in compiled if one.plan is not None]
    if not plans:
        return _Sided((), (), (), {"rows": [], "axes": []}, ())
    bound = plans[0].bound
    axes = axis_rows(plans, tables.cuts)
    numbers = {key: i for i, row in enumerate(axes) for key in row.keys}
    every = tensor_rows(plans, tables.cuts)
    rows = [row for row in every if wanted.has(row)]
    data: dict[str, object] = {
        "rows": [row_data(row, bound, 0, numbers) for row in rows],
        "axes": [axis_data(axis, bound) for axis in axes],
    }
    return _Sided(compiled, every, rows, data, [[axis.cuts[i] for axis in axes] for i in range(len(plans))])


def _pairs(before: Sequence[TensorRow], after: Sequence[TensorRow]) -> Iterator[tuple[int, int]]:
    """Rows of one name face each other, in the order of the side after; the rest have nobody."""
    alike: dict[str, list[int]] = {}
    for a, row in enumerate(before):
        alike.setdefault(_starred(row.part.first), []).append(a)
    left = dict.fromkeys(range(len(before)))
    for b, row in enumerate(after):
        candidates = alike.get(_starred(row.part.first), [])
        a = next((a for a in candidates if _same(before[a], row)), -1)
        if a >= 0:
            candidates.remove(a)
            del left[a]
        yield a, b
    yield from ((a, -1) for a in left)


def _starred(name: str) -> str:
    """The name with `*` for each number: equal for the names of one pattern, however many of its indices it says."""
    return _NUMBER.sub("*", name)


def _same(before: TensorRow, after: TensorRow) -> bool:
    return (
        before.name == after.name
        or fnmatchcase(before.part.first, after.name)
        or fnmatchcase(after.part.first, before.name)
    )
