"""Both versions of a spec, and what came of trying them on recorded checkpoints."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from shardc.diagnostics import Span
from shardc.plan.names import starred
from shardc.plan.resolved import Entry
from shardc.review.compare.meaning import Meaning
from shardc.review.compare.pairs import Pair, pairs
from shardc.review.compare.same_layout import Layouts, cut_alike
from shardc.review.diff import MeshChange, Version, in_class_order


class Seen:
    """One version: what its names mean, and how many tensors each entry stands for."""

    def __init__(self, version: Version) -> None:
        assert version.resolved is not None
        self.resolved = version.resolved
        self.bound = version.bound
        self.meaning = Meaning(version.resolved)

    def count(self, entry: Entry) -> int | None:
        """Tensors of the first recorded checkpoint that an entry stands for."""
        first = next(iter(self.bound.values()), None)
        if first is None:
            return None
        return sum(family.stored.family.count for family in first.families if family.entry is entry)

    def span(self, entry: Entry) -> Span:
        return self.resolved.document.key(*entry.path)


class Trial(Struct, frozen=True):
    """What recorded checkpoints say of an entry, or of two that are one in another version.

    seen: some checkpoint that both versions plan has tensors of it in both. alike: those are cut alike on every mesh.
    complete: no version has a tensor of it that the other lacks.
    """

    seen: bool
    alike: bool
    complete: bool

    @property
    def proved(self) -> bool:
        return self.seen and self.alike


class Both:
    """Both versions.

    loads: what became of the meshes of some checkpoint: widens, narrows or neither. mesh_dims: those that both have.
    """

    def __init__(self, before: Version, after: Version, meshes: list[MeshChange]) -> None:
        self.old, self.new = Seen(before), Seen(after)
        self.mesh_dims = set(self.old.resolved.mesh_dims) & set(self.new.resolved.mesh_dims)
        self.loads = in_class_order(one for mesh in meshes for one in mesh.classes if one in ("widens", "narrows"))
        self.tried = {mesh.checkpoint: None for mesh in meshes if mesh.before.planned and mesh.after.planned}
        self.loaded = {
            mesh.checkpoint for mesh in meshes if mesh.before.bytes is not None and mesh.after.bytes is not None
        }
        self._cut = {cut.pattern for mesh in meshes for cut in mesh.cuts}
        self._found: dict[int, list[tuple[Pair, bool]]] = {}
        for pair, alike in self._pairs():
            for held in (pair.before, pair.after):
                if held is not None:
                    self._found.setdefault(id(held.family.entry), []).append((pair, alike))

    def _pairs(self) -> Iterator[tuple[Pair, bool]]:
        """The tensors of each checkpoint that was tried, and whether both versions cut them alike.

        A tensor that one version alone has is left out where that version, or the other, does not load the file.
        """
        for name in self.tried:
            sides = self.old.bound[name], self.new.bound[name]
            layouts = Layouts(sides[0], self.mesh_dims), Layouts(sides[1], self.mesh_dims)
            for pair in pairs(*sides):
                if pair.before is not None and pair.after is not None:
                    yield pair, cut_alike(pair, *layouts)
                elif name in self.loaded:
                    yield pair, False

    def is_cut(self, entry: Entry) -> bool:
        """Whether some rank keeps something else of a tensor of this name, or of one that is stored beside it."""
        pattern = starred(entry.pattern)
        stored = (part.named(pattern) for format in entry.formats for part in format.parts)
        return not self._cut.isdisjoint([pattern, *stored])

    def trial(self, *entries: Entry) -> Trial:
        found = [one for entry in entries for one in self._found.get(id(entry), ())]
        known = [alike for pair, alike in found if pair.before is not None and pair.after is not None]
        return Trial(bool(known), all(known), len(known) == len(found))

    def same_names(self, old: Entry, new: Entry) -> bool:
        """Whether both stand for the same tensors, whatever the config."""
        return self.old.meaning.names(old) == self.new.meaning.names(new)

    def same_selection(self, old: Entry, new: Entry) -> bool:
        """Whether axes that are dealt alike select the names."""
        was, is_ = (
            [
                side.meaning.axis(loop.axis, entry)
                for loop in entry.loops
                if loop.axis and side.resolved.axes_of(entry)[loop.axis].over in self.mesh_dims
            ]
            for side, entry in ((self.old, old), (self.new, new))
        )
        return was == is_

    def same_shapes(self, old: Entry, new: Entry) -> bool:
        """Whether the full shapes are those that they were, in every checkpoint."""
        known = [pair for entry in (old, new) for pair, _ in self._found.get(id(entry), ())]
        return all(p.before.family.shape == p.after.family.shape for p in known if p.before and p.after)
