"""The five laws of a plan as assertions, against the brute-force oracle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import assume

from shardc.layout.expr import Cat, Expr
from shardc.layout.regions import local_size
from shardc.plan.family import Family
from shardc.plan.plan import Plan
from shardc.plan.resolved import PartDim
from shardc.plan.stored import StoredPart
from shardc.plan.stored_dims import StoredDim, stored_dims
from shardc.spec.dtypes import SIZES
from tests import support
from tests.laws.oracle import Oracle, Owners, rows
from tests.laws.specs import Case

MOST_ROWS = 2_500
MOST_ELEMENTS = 20_000


def plan_of(case: Case) -> Plan:
    """The plan of the case; cases that have none, or a large one, are passed over."""
    result = support.compiled(case.text, case.config, case.mesh, case.headers)
    assume(result.ok)
    assert result.plan is not None
    assert not result.plan.bound.findings
    assume(all(size <= MOST_ROWS for family in result.plan.families for size in family.shape))
    return result.plan


def oracle(plan: Plan) -> Oracle:
    return Oracle({name: split for (name, _), split in plan.splits.items()}, plan.mesh)


def each_rank_keeps_the_rows_of_its_elements(plan: Plan) -> None:
    """Laws 1 and 2: a rank's rows are those that its elements own, in order, each written once; the rest is padding."""
    truth = oracle(plan)
    for family in plan.families:
        for part in family.stored.parts:
            for i, dim in enumerate(stored_dims(family, part)):
                if is_whole(dim):
                    whole = ((0, plan.part_shape(family, part)[i], 0),)
                    assert all(plan.part_at(family, part, rank)[i] == whole for rank in plan.ranks())
                    continue
                layout, unit = layout_of(dim), dim.unit
                owners = owners_of_units(truth, layout, unit)
                assert len(owners) == plan.part_shape(family, part)[i]
                for rank in plan.ranks():
                    regions = plan.part_at(family, part, rank)[i]
                    kept = [row for row in rows(regions) if row is not None]
                    assert kept == [row for row, of in enumerate(owners) if truth.kept(of[0], rank)]
                    assert all(len({truth.kept(row, rank) for row in of}) == 1 for of in owners)
                    assert local_size(regions) == local_units(truth, layout, unit, rank)


def is_whole(dim: StoredDim) -> bool:
    """Whether no rank may have less than all of a dim: it follows none of the weight's, or act-order forbids it."""
    return dim.dim is None or bool(dim.unit and dim.unit.whole)


def layout_of(dim: StoredDim) -> Expr:
    """The layout of the weight's dim that a stored one follows."""
    assert dim.dim is not None
    return dim.family.entry.dims[dim.dim]


def owners_of_units(truth: Oracle, layout: Expr, unit: PartDim | None) -> list[list[Owners]]:
    """The owners of the weight's rows, for each row of a stored tensor: units begin anew with every segment."""
    size, count = ratio(unit)
    out = []
    for part in segments(layout):
        owners = list(truth.owners(part))
        out += [owners[start : start + size] for start in range(0, len(owners), size) for _ in range(count)]
    return out


def local_units(truth: Oracle, layout: Expr, unit: PartDim | None, rank: Mapping[str, int]) -> int:
    size, count = ratio(unit)
    return sum(-(-truth.local(part, rank) // size) for part in segments(layout)) * count


def ratio(unit: PartDim | None) -> tuple[int, int]:
    """So many rows of the weight to so many entries."""
    if unit is None:
        return 1, 1
    assert isinstance(unit.unit, int) and isinstance(unit.count, int)
    return unit.unit, unit.count


def segments(layout: Expr) -> list[Expr]:
    return [inner for part in layout.parts for inner in segments(part)] if isinstance(layout, Cat) else [layout]


def one_rank_keeps_the_file(case: Case) -> None:
    """Law 3: at size 1 the plan is the identity."""
    plan = plan_of(replace(case, mesh=dict.fromkeys(case.mesh, 1)))
    for shard in plan.shards(dict.fromkeys(case.mesh, 0)):
        assert shard.names == shard.part.names
        assert shard.at == tuple(((0, size, 0),) for size in shard.shape)


def bytes_add_up(plan: Plan) -> None:
    """Law 4: the local bytes of all ranks are the full bytes, each as often as it is declared to be held, and padding."""
    local = padding = declared = 0
    for rank in plan.ranks():
        for shard in plan.shards(rank):
            local += shard.local_bytes * len(shard.names)
            padding += shard.padding_bytes * len(shard.names)
    for family in plan.families:
        for part in family.stored.parts:
            declared += SIZES[part.load] * len(part.names) * int(copies(plan, family, part).sum())
    assert local == declared + padding


def merging_gives_the_file_back(plan: Plan) -> None:
    """Law 5: cut a tensor of distinct numbers, lay the pieces back, and find each as often as it is declared."""
    for family in plan.families:
        for part in family.stored.parts:
            if prod(plan.part_shape(family, part)) <= MOST_ELEMENTS:
                _merge(plan, family, part)


def _merge(plan: Plan, family: Family, part: StoredPart) -> None:
    shape = plan.part_shape(family, part)
    full = np.arange(1, prod(shape) + 1).reshape(shape)
    merged = np.zeros_like(full)
    held = {name: np.zeros_like(full) for name in part.names}
    for rank in plan.ranks():
        places = [rows(regions) for regions in plan.part_at(family, part, rank)]
        local = _cut(full, places)
        here = np.ix_(*([i for i, row in enumerate(dim) if row is not None] for dim in places))
        there = np.ix_(*([row for row in dim if row is not None] for dim in places))
        assert np.count_nonzero(local) == merged[there].size
        merged[there] = local[here]
        for name in plan.kept(family, part.names, rank):
            held[name][there] += 1
    assert (merged == full).all()
    declared = copies(plan, family, part)
    assert all((held[name] == declared).all() for name in part.names)


def _cut(full: npt.NDArray[Any], places: list[list[int | None]]) -> npt.NDArray[Any]:
    """The local tensor; the row of zeros stands behind the last row of each dim."""
    with_zeros = np.zeros([size + 1 for size in full.shape], full.dtype)
    with_zeros[tuple(slice(size) for size in full.shape)] = full
    return with_zeros[np.ix_(*([-1 if row is None else row for row in dim] for dim in places))]


def copies(plan: Plan, family: Family, part: StoredPart) -> npt.NDArray[Any]:
    """How many ranks are declared to hold each element of a stored tensor, of a name that some rank keeps."""
    truth = oracle(plan)
    shape = plan.part_shape(family, part)
    named = {plan.splits[axis, ()].over: plan.splits[axis, ()].replicas for axis in family.elements}
    named |= {over: min(len(ends), plan.mesh[over]) for over, ends in family.entry.on.items()}
    out = np.full(shape, prod(named.values()))
    uncut = set(plan.mesh) - named.keys()
    for i, dim in enumerate(stored_dims(family, part)):
        if is_whole(dim):
            continue
        layout = layout_of(dim)
        over = truth.mesh_dims(layout)
        along = [truth.copies(of[0], over) for of in owners_of_units(truth, layout, dim.unit)]
        out *= np.array(along, int).reshape([-1 if d == i else 1 for d in range(len(shape))])
        uncut -= over
    return out * prod(plan.mesh[over] for over in uncut)
