"""What a change does, in a sentence."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from shardc.diagnostics.wording import plural
from shardc.review.diff import MEANINGS, MeshChange, SpecChange
from shardc.review.wording import meshes_words

#: Meshes that a sentence names before it only counts them; checkpoints likewise.
_MESHES, _CHECKPOINTS = 8, 2

_ALIKE = "byte-identical"


def effect(spec: SpecChange) -> str:
    """`tp=8 now loads; tp=1, 2, 4 byte-identical`; where checkpoints differ in it, each with its own."""
    if spec.classes == ("cosmetic",):
        return MEANINGS["cosmetic"]
    said: dict[str, list[str]] = {}
    for checkpoint, meshes in by_checkpoint(spec).items():
        sentence = _of(meshes)
        if sentence:
            said.setdefault(sentence, []).append(checkpoint)
    on_meshes = list(said) if len(said) == 1 else [f"{_named(names)}: {one}" for one, names in said.items()]
    return "; ".join([*_counted(spec), *on_meshes, *_untried(spec)] or ["no target"])


def by_checkpoint(spec: SpecChange) -> Mapping[str, list[MeshChange]]:
    """The meshes on which one of the two versions loads, by checkpoint."""
    out: dict[str, list[MeshChange]] = {}
    for mesh in spec.meshes:
        if mesh.before.bytes is not None or mesh.after.bytes is not None or mesh.after.claimed:
            out.setdefault(mesh.checkpoint, []).append(mesh)
    return out


def outcome(mesh: MeshChange, several: bool = False) -> str:
    """What comes of one mesh: `now loads`, `byte-identical`, …; in the plural of several."""
    if mesh.after.bytes is None:
        if mesh.before.bytes is None:
            return "still do not load" if several else "still does not load"
        return "no longer load" if several else "no longer loads"
    if mesh.before.bytes is None:
        return "now load" if several else "now loads"
    if "layout" in mesh.classes:
        return "lay bytes out differently" if several else "lays bytes out differently"
    if "coverage" in mesh.classes:
        return "with other tensors, the rest byte-identical"
    if "collectives" in mesh.classes:
        return "byte-identical, with other collectives"
    if "widens" in mesh.classes:
        return f"newly claimed, {_ALIKE}"
    return f"no longer claimed, {_ALIKE}" if "narrows" in mesh.classes else _ALIKE


class Row(Struct, frozen=True):
    """Meshes of one checkpoint of which the same is to be said; `why` is the reason why one side does not load."""

    checkpoint: str
    meshes: tuple[MeshChange, ...]
    why: str

    @property
    def mesh(self) -> str:
        return meshes_words([one.mesh for one in self.meshes])

    @property
    def outcome(self) -> str:
        """`no longer loads: SHD201 …`, `now loads; before: SHD201 …`"""
        said = outcome(self.meshes[0], len(self.meshes) > 1)
        if not self.why:
            return said
        return f"{said}; before: {self.why}" if self.meshes[0].after.bytes is not None else f"{said}: {self.why}"


def rows(spec: SpecChange) -> list[Row]:
    """The meshes that are not as they were.

    Those that fail for one reason are together, and so are those that hold as much as before. A mesh of several
    dims is left out where the same is said of its tp alone.
    """
    changed = [mesh for mesh in spec.meshes if mesh.classes]
    alone = {(one.checkpoint, one.mesh.get("tp", 1)): outcome(one) for one in changed if one.mesh.keys() <= {"tp"}}
    grouped: dict[tuple[object, ...], list[MeshChange]] = {}
    for i, one in enumerate(changed):
        if one.mesh.keys() <= {"tp"} or alone.get((one.checkpoint, one.mesh.get("tp", 1))) != outcome(one):
            why = _why(one)
            sizes = (one.before.bytes, one.after.bytes)
            own = i if None not in sizes and sizes[0] != sizes[1] else None
            grouped.setdefault((one.checkpoint, outcome(one), why, own), []).append(one)
    return [Row(str(key[0]), tuple(ones), str(key[2])) for key, ones in grouped.items()]


def _why(mesh: MeshChange) -> str:
    failing = mesh.before if mesh.before.bytes is None else mesh.after
    return failing.reasons[0] if failing.bytes is None and failing.reasons else ""


def _of(meshes: list[MeshChange]) -> str:
    groups: dict[str, list[MeshChange]] = {}
    for mesh in meshes:
        groups.setdefault(outcome(mesh), []).append(mesh)
    alike = groups.pop(_ALIKE, None)
    if alike is not None:
        groups[_ALIKE] = alike
    return "; ".join(f"{_meshes(ones, len(meshes))} {outcome(ones[0], len(ones) > 1)}" for ones in groups.values())


def _meshes(ones: list[MeshChange], of: int) -> str:
    if len(ones) == of and of > 1:
        return f"all {of} meshes"
    said = meshes_words([one.mesh for one in ones])
    if said.count(";") > _MESHES:
        return f"{meshes_words([one.mesh for one in ones[:_MESHES]])} and {len(ones) - _MESHES} more"
    return said


def _counted(spec: SpecChange) -> list[str]:
    """What is said before the meshes: the whole spec came or went, or tensors did."""
    if spec.before is None:
        return ["new spec"]
    if spec.after is None:
        return ["the spec is gone"]
    broken = [
        f"the spec {when} has errors"
        for when, version in (("before", spec.before), ("now", spec.after))
        if version.resolved is None
    ]
    counts = {status: sum(item.status == status for item in spec.tensors) for status in ("added", "removed")}
    return broken + [f"{plural(count, 'tensor pattern')} {status}" for status, count in counts.items() if count]


def _untried(spec: SpecChange) -> list[str]:
    """Classes that the text has, and none of the meshes that were tried."""
    shown = {one for mesh in spec.meshes for one in mesh.classes}
    left = [one for one in spec.classes if one not in shown and one not in ("equal", "cosmetic")]
    return [f"beyond what was tried: {', '.join(left)}"] if left and spec.meshes else []


def _named(checkpoints: list[str]) -> str:
    more = len(checkpoints) - _CHECKPOINTS
    return ", ".join(checkpoints[:_CHECKPOINTS]) + (f" and {more} more" if more > 0 else "")
