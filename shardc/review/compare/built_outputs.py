"""Outputs that a rank builds otherwise than before."""

from __future__ import annotations

from collections.abc import Hashable

from msgspec import Struct

from shardc.diagnostics.wording import plural
from shardc.plan.as_text import shape
from shardc.plan.names import starred
from shardc.plan.output_layout import OutputLayout
from shardc.plan.output_ranks import output_layouts
from shardc.plan.plan import Coords, Plan
from shardc.review.diff import Cut


def changed_outputs(before: Plan, after: Plan) -> list[Cut]:
    """The outputs that only one version has, or that are built of other tensors or in another order."""
    was, is_ = _outputs(before), _outputs(after)
    found: dict[tuple[str, str, str], int] = {}
    for name in {**is_, **was}:
        old, new = was.get(name), is_.get(name)
        if old == new:
            continue
        made = new or old
        assert made is not None
        key = (made.pattern, _words(old), _words(new))
        found[key] = found.get(key, 0) + 1
    return [Cut(pattern, count, old, new) for (pattern, old, new), count in found.items()]


class _Made(Struct, frozen=True):
    """An output on every rank: the names it is built of, by stacked element, and its layout, by rank."""

    pattern: str
    members: tuple[tuple[str, ...], ...]
    layouts: tuple[tuple[Hashable, ...], ...]


def _outputs(plan: Plan) -> dict[str, _Made]:
    """Every output by name."""
    out: dict[str, _Made] = {}
    for built in plan.bound.outputs.built:
        for part in range(built.parts):
            layouts = [(_coordinates(plan, rank), layout) for rank, layout in output_layouts(plan, built, part)]
            first = layouts[0][1]
            made = tuple((rank, *_content(layout)) for rank, layout in layouts)
            pattern = first.named(starred(built.output.pattern))
            for one in built.builds:
                out[first.named(one.name)] = _Made(pattern, _members(first, one.slices), made)
    return out


def _coordinates(plan: Plan, rank: Coords) -> Hashable:
    """The rank, without mesh dims of one: another version may not know them."""
    return tuple((over, r) for over, r in sorted(rank.items()) if plan.mesh.get(over, 1) > 1)


def _members(layout: OutputLayout, slices: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    part = layout.parts[0].part
    return tuple(tuple(part.named(name) if part else name for name in names) for names in slices)


def _content(layout: OutputLayout) -> tuple[Hashable, ...]:
    return shape(layout.shape), layout.stacked, layout.dtype, layout.pieces, layout.zeros


def _words(made: _Made | None) -> str:
    if made is None:
        return "not built: the rank has the file's tensors"
    _, local, _, _, pieces, _ = made.layouts[0]
    assert isinstance(pieces, tuple)
    members = ", ".join(name.removesuffix(".weight").rsplit(".", 1)[-1] for name in made.members[0])
    return f"{local} of {members}, in {plural(len(pieces), 'piece')}"
