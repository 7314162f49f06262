"""Two versions of one spec, or of a folder of them."""

from __future__ import annotations

from collections.abc import Iterator

from shardc.review.compare.fields import classes_of
from shardc.review.compare.meshes import mesh_changes
from shardc.review.compare.others import axis_items, contract_items, output_items, spec_fields
from shardc.review.compare.tensors import tensor_items
from shardc.review.diff import Class, Field, Item, MeshChange, SpecChange, Version, in_class_order


def spec_change(name: str, before: Version | None, after: Version | None) -> SpecChange:
    """What is different; of class `cosmetic` where both say the same, and `equal` where they do the same."""
    meshes = list(mesh_changes(before, after))
    if before is None or after is None or before.resolved is None or after.resolved is None:
        classes = [one for mesh in meshes for one in mesh.classes] or [_loads(before, after)]
        return SpecChange(name, before, after, in_class_order(classes), meshes=tuple(meshes))
    cut = {one.pattern for mesh in meshes for one in mesh.cuts}
    fields = spec_fields(before.resolved, after.resolved)
    axes = axis_items(before.resolved, after.resolved)
    contracts = contract_items(before.resolved, after.resolved)
    tensors = tensor_items(before, after, meshes) + output_items(before.resolved, after.resolved, cut)
    classes = list(_classes(fields, (*axes, *contracts, *tensors), meshes))
    if not classes:
        data = [_without_prose(version.resolved.document.data) for version in (before, after) if version.resolved]
        classes = ["cosmetic" if data[0] == data[1] else "equal"]
    return SpecChange(name, before, after, in_class_order(classes), fields, axes, contracts, tensors, tuple(meshes))


def _loads(before: Version | None, after: Version | None) -> Class:
    """Of a spec that has no counterpart to be compared with, and no target to be tried on."""
    return "widens" if before is None or (before.resolved is None and after and after.resolved) else "narrows"


def _classes(fields: tuple[Field, ...], items: tuple[Item, ...], meshes: list[MeshChange]) -> Iterator[Class]:
    for item in items:
        yield from (one for one in item.classes if one != "equal")
    for mesh in meshes:
        yield from mesh.classes
    for field in fields:
        if field.name == "ignore":
            yield "coverage"
        elif not field.note:
            yield from classes_of([Field(field.name.rsplit(".", 1)[-1], field.before, field.after)])


def _without_prose(data: object) -> object:
    """A spec's data without the words that are for a reader alone."""
    if not isinstance(data, dict):
        return data
    ignored = [{**one, "because": ""} for one in data.get("ignore", [])]
    return {**data, "about": "", "ignore": ignored}
