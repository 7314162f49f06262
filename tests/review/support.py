"""Two versions of a spec, compared as `shardc diff` does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shardc.emit.module import module
from shardc.plan.bound import bind
from shardc.plan.evidence import Evidence, Header
from shardc.review.compare.specs import spec_change
from shardc.review.diff import Item, SpecChange, Version
from tests.cli.support import CONFIG, SPEC
from tests.support import try_resolve

HEADERS: dict[str, Header] = {
    f"layers.{layer}.{name}": ("BF16", shape)
    for layer in range(2)
    for name, shape in (("q_proj.weight", (32, 16)), ("o_proj.weight", (16, 32)))
}


def version(
    text: str, config: Mapping[str, Any] = CONFIG, headers: Mapping[str, Header] | None = None, file: str = "tiny.yaml"
) -> Version:
    """The spec with one recorded checkpoint, whose name its targets have."""
    resolved, findings = try_resolve(text, file)
    if resolved is None or findings:
        return Version(file, None, tuple(findings))
    evidence = Evidence("target tiny", config, headers)
    bound = {"tiny": bind(resolved, evidence)} if resolved.spec.targets else {}
    return Version(file, resolved, (), bound, module(resolved))


def change(
    before: str, after: str, config: Mapping[str, Any] = CONFIG, headers: Mapping[str, Header] | None = None
) -> SpecChange:
    return spec_change("tiny", version(before, config, headers), version(after, config, headers))


def edited(*edits: tuple[str, str], text: str = SPEC) -> str:
    """The spec with texts replaced that it has just once."""
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


#: No target, and so nothing to try a change on.
BARE = edited(("targets:\n  - {checkpoint: tiny, tp: [1, 2, 4, 8]}\n", ""))


def with_(text: str, before: str = SPEC) -> str:
    """The spec with text in front of its targets; at its end where it has none."""
    head, targets, claims = before.partition("targets:")
    return f"{head}{text}{targets}{claims}"


def swapped(before: str, old: str, new: str) -> SpecChange:
    assert before.count(old) == 1
    return change(before, before.replace(old, new), headers=HEADERS if "targets:" in before else None)


def item(spec: SpecChange, name: str) -> Item:
    """The one item of this name."""
    (found,) = [one for one in (*spec.axes, *spec.contracts, *spec.tensors) if one.name == name]
    return found


def fields(item: Item) -> list[tuple[str, str | None, str | None, str]]:
    return [(one.name, one.before, one.after, one.note) for one in item.fields]


def outcomes(spec: SpecChange) -> dict[tuple[tuple[str, int], ...], tuple[str, ...]]:
    """The classes of each mesh on which one of the versions loads."""
    loads = [mesh for mesh in spec.meshes if mesh.before.bytes is not None or mesh.after.bytes is not None]
    return {tuple(mesh.mesh.items()): mesh.classes for mesh in loads}
