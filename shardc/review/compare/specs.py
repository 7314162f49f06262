"""Two versions of one spec, or of a folder of them."""

from __future__ import annotations

from msgspec.structs import replace

from shardc.review.compare.head import spec_fields
from shardc.review.compare.meshes import mesh_changes
from shardc.review.compare.others import axis_items, contract_items, output_items
from shardc.review.compare.tensors import tensor_items
from shardc.review.diff import Class, SpecChange, Version, in_class_order


def spec_change(name: str, before: Version | None, after: Version | None) -> SpecChange:
    """What is different; of class `cosmetic` where both say the same, and `equal` where they do the same."""
    meshes = list(mesh_changes(before, after))
    if before is None or after is None or before.resolved is None or after.resolved is None:
        classes = [one for mesh in meshes for one in mesh.classes] or [_loads(before, after)]
        return SpecChange(name, before, after, in_class_order(classes), meshes=tuple(meshes))
    fields = spec_fields(before.resolved, after.resolved)
    axes = axis_items(before.resolved, after.resolved)
    contracts = contract_items(before.resolved, after.resolved, meshes)
    tensors = tensor_items(before, after, meshes) + output_items(before.resolved, after.resolved, meshes)
    same_code = _same_code(before, after)
    if same_code:  # Whatever else is written otherwise: ranks keep, and refuse, what they did.
        contracts, tensors = (
            tuple(replace(one, classes=("equal",)) for one in items) for items in (contracts, tensors)
        )
    classes = [one for mesh in meshes for one in mesh.classes]
    if not same_code:
        classes += [one for _, means in fields for one in means]
        classes += [one for item in (*contracts, *tensors) for one in item.classes if one != "equal"]
    if not classes:
        said = [_without_prose(one.document.data) for one in (before.resolved, after.resolved)]
        classes = ["cosmetic" if same_code and said[0] == said[1] else "equal"]
    shown = tuple(field for field, _ in fields)
    return SpecChange(name, before, after, in_class_order(classes), shown, axes, contracts, tensors, tuple(meshes))


def _loads(before: Version | None, after: Version | None) -> Class:
    """Of a spec that has no counterpart to be compared with, and no target to be tried on."""
    was, is_ = (version is not None and version.resolved is not None for version in (before, after))
    return "equal" if was == is_ else "widens" if is_ else "narrows"


def _same_code(before: Version, after: Version) -> bool:
    """Whether the generated modules differ in nothing but what they say to a reader."""
    was, is_ = (one.module.partition("\nfrom __future__")[2] if one.module else None for one in (before, after))
    return was is not None and was == is_


def _without_prose(data: object) -> object:
    """A spec's data without the words that are for a reader alone."""
    if not isinstance(data, dict):
        return data
    ignored = [{**one, "because": ""} for one in data.get("ignore", [])]
    return {**data, "about": "", "ignore": ignored}
