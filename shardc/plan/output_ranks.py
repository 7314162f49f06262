"""The outputs of a plan over its ranks: all of one, and a rank for each way in which one is cut."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator

from msgspec import Struct

from shardc.plan.built import Built
from shardc.plan.member_moves import elements_of
from shardc.plan.output_layout import OutputLayout, output_layout, stacked_elements
from shardc.plan.output_proof import joined, prove_output
from shardc.plan.plan import Coords, Plan
from shardc.plan.row_moves import run_counts


class LocalOutput(Struct, frozen=True):
    """One stored tensor of an output on a rank. `members` has, by stacked element, the names of the file's tensors."""

    name: str
    members: tuple[tuple[str, ...], ...]
    layout: OutputLayout


def outputs(plan: Plan, rank: Coords) -> Iterator[LocalOutput]:
    """Every output that the rank builds, part by part. One of which it has no tensor is left out."""
    for built in plan.bound.outputs.built:
        kept = [set(plan.kept(family, family.names, rank)) for family in built.families]
        for part in range(built.parts):
            layout = output_layout(plan, built, part, rank)
            stored = layout.parts[0].part
            for one in built.builds:
                here = [names for names in one.slices if names[0] in kept[0]]
                if here:
                    named = tuple(tuple(stored.named(name) if stored else name for name in names) for names in here)
                    yield LocalOutput(layout.named(one.name), named, layout)


def output_layouts(plan: Plan, built: Built, part: int) -> Iterator[tuple[Coords, OutputLayout]]:
    """One part of an output on a rank for each way in which it is cut: on others, only the file's rows are others."""
    over = _mesh_dims(plan, built)
    seen = set()
    for coordinates in itertools.product(*(range(plan.mesh.get(dim, 1)) for dim in over)):
        rank = dict(zip(over, coordinates, strict=True))
        form = _form(plan, built, part, rank)
        if form not in seen:
            seen.add(form)
            yield rank, output_layout(plan, built, part, rank)


def _form(plan: Plan, built: Built, part: int, rank: Coords) -> Hashable:
    """Equal for ranks with equally long regions and padding of every member."""
    lengths = [
        tuple(tuple((stop - start, pad) for start, stop, pad in dim) for dim in plan.part_at(family, stored, rank))
        for family in built.families
        for stored in family.stored.parts[part : part + 1]
    ]
    counts = [
        run_counts(member.runs, plan.scope(family, rank))
        for member, family in zip(built.output.members, built.families, strict=True)
    ]
    return tuple(lengths), tuple(counts), elements_of(plan, built, rank), stacked_elements(plan, built, rank)


def cut_key(plan: Plan, built: Built) -> Hashable:
    """Equal for one output of a bound spec on meshes that cut it alike."""
    return "output", id(built), tuple(plan.mesh.get(dim, 1) for dim in _mesh_dims(plan, built))


def prove_outputs(plan: Plan) -> None:
    """Check the laws of every output; ShardcBug (SHD901) at the first that fails."""
    for built in plan.bound.outputs.built:
        key = cut_key(plan, built)
        if key in plan.bound.proved:
            continue
        plan.bound.proved.add(key)
        for part in range(built.parts):
            for rank, layout in output_layouts(plan, built, part):
                prove_output(layout, _kept_rows(plan, layout, rank))


def _kept_rows(plan: Plan, layout: OutputLayout, rank: Coords) -> list[list[tuple[int, int]]]:
    """The rows of the output dim that the rank keeps of each member, as disjoint intervals."""
    if layout.dim is None:
        return []
    out = []
    for family, part in zip(layout.built.families, layout.parts, strict=True):
        at = plan.part_at(family, part, rank)
        rows = [(start, stop) for start, stop, _ in at[layout.dim] if stop > start] if at else []
        out.append(joined(rows, part.first))
    return out


def _mesh_dims(plan: Plan, built: Built) -> tuple[str, ...]:
    over = {dim for family in built.families for dims in family.over for dim in dims}
    splits = plan.splits_of(built.families[0])
    axes = [axis for axis in (built.output.by, built.output.stack_axis) if axis is not None]
    return tuple(sorted(over | {splits[axis].over for axis in axes}))
