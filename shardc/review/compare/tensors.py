"""The tensors of two versions of a spec, entry by entry."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from itertools import zip_longest
from typing import Literal

from shardc.diagnostics import Span
from shardc.layout.show import show
from shardc.plan.family import Family
from shardc.plan.kinds import axes_in
from shardc.plan.names import starred
from shardc.plan.resolved import Axis, Entry, Resolved
from shardc.review.compare.cuts import stored_name
from shardc.review.compare.fields import changed, classes_of, of_axis, of_entry
from shardc.review.compare.meaning import Meaning
from shardc.review.compare.same_layout import layouts
from shardc.review.diff import Class, Field, Item, MeshChange, Version, in_class_order

_OTHER_ORDER = "same size, other storage order: each rank gets other rows"
_EQUAL = "equal formula"
_SAME_LAYOUT = "same layout on every mesh"
_SAME_ROWS = "same rows on every mesh that was tried"
_UNTRIED = "no recorded checkpoint to try it on"


class _Seen:
    """One version: what its names mean, and the families of each entry, by recorded checkpoint."""

    def __init__(self, version: Version) -> None:
        assert version.resolved is not None
        self.resolved = version.resolved
        self.meaning = Meaning(version.resolved)
        self.checkpoints = list(version.bound)
        self._families: dict[tuple[str, int], list[Family]] = {}
        for name, bound in version.bound.items():
            for family in bound.families:
                self._families.setdefault((name, id(family.entry)), []).append(family)

    def families(self, checkpoint: str, entry: Entry) -> list[Family]:
        return self._families.get((checkpoint, id(entry)), [])

    def count(self, entry: Entry) -> int | None:
        """Tensors of the first recorded checkpoint that an entry stands for."""
        if not self.checkpoints:
            return None
        return sum(family.stored.family.count for family in self.families(self.checkpoints[0], entry))

    def names(self, entry: Entry) -> set[str]:
        """What its tensors are called in the recorded checkpoints, indices as `*`; empty where none has any."""
        found = [family for name in self.checkpoints for family in self.families(name, entry)]
        return {stored_name(entry, part) for family in found for part in family.stored.parts}

    def span(self, entry: Entry) -> Span:
        return self.resolved.document.key(*entry.path)


class _Both:
    """Both versions, and what came of trying them."""

    def __init__(self, before: Version, after: Version, meshes: list[MeshChange]) -> None:
        self.old, self.new = _Seen(before), _Seen(after)
        self.cut = {cut.pattern for mesh in meshes for cut in mesh.cuts}
        self.loads = in_class_order(one for mesh in meshes for one in mesh.classes if one in ("widens", "narrows"))
        self.compiled = any(mesh.before.compiled and mesh.after.compiled for mesh in meshes)

    def tried(self, old: Entry, new: Entry) -> bool:
        """Whether some recorded checkpoint has tensors of either."""
        return self.compiled and bool(self.old.names(old) or self.new.names(new))

    def is_cut(self, old: Entry, new: Entry) -> bool:
        """Whether some rank keeps otherwise what either stands for."""
        return not self.cut.isdisjoint(self.old.names(old) | self.new.names(new))

    def same_shapes(self, old: Entry, new: Entry) -> bool:
        """Whether the full shapes are those that they were, in every checkpoint."""
        return all(
            {family.shape for family in self.old.families(name, old)}
            == {family.shape for family in self.new.families(name, new)}
            for name in self.new.checkpoints
        )

    def same_layouts(self, old: Entry, new: Entry) -> bool:
        return all(
            layouts(self.old.families(name, old), self.old.meaning)
            == layouts(self.new.families(name, new), self.new.meaning)
            for name in self.new.checkpoints
        )


def tensor_items(before: Version, after: Version, meshes: list[MeshChange]) -> tuple[Item, ...]:
    """Every tensor that was added or removed, is written otherwise, or whose axes are dealt otherwise."""
    both = _Both(before, after, meshes)
    olds, news = _by_pattern(both.old.resolved), _by_pattern(both.new.resolved)
    out: list[Item] = []
    for pattern in dict.fromkeys([*news, *olds]):
        for old, new in _paired(olds.get(pattern, []), news.get(pattern, [])):
            if old is not None and new is not None:
                item = _changed(old, new, both)
                out += [item] if item is not None else []
            elif new is not None:
                out.append(_alone(new, "added", both.new))
            elif old is not None:
                out.append(_alone(old, "removed", both.old))
    return tuple(out)


def _by_pattern(resolved: Resolved) -> dict[str, list[Entry]]:
    out: dict[str, list[Entry]] = {}
    for entry in resolved.entries:
        out.setdefault(starred(entry.pattern), []).append(entry)
    return out


def _paired(olds: list[Entry], news: list[Entry]) -> list[tuple[Entry | None, Entry | None]]:
    """Entries of one pattern: those that are written alike with each other, the rest in order."""
    written: dict[Hashable, list[Entry]] = {}
    for old in olds:
        written.setdefault(tuple(of_entry(old).items()), []).append(old)
    alike: list[tuple[Entry | None, Entry | None]] = []
    left = []
    for new in news:
        same = written.get(tuple(of_entry(new).items()))
        if same:
            alike.append((same.pop(0), new))
        else:
            left.append(new)
    return alike + list(zip_longest([old for same in written.values() for old in same], left))


def _alone(entry: Entry, status: Literal["added", "removed"], seen: _Seen) -> Item:
    shown = of_entry(entry)
    sides = [(None, shown[name]) if status == "added" else (shown[name], None) for name in ("shape", "shard")]
    fields = (Field("shape", *sides[0]), Field("shard", *sides[1]))
    return Item(starred(entry.pattern), status, ("coverage",), fields, seen.span(entry), seen.count(entry))


def _changed(old: Entry, new: Entry, both: _Both) -> Item | None:
    same = both.old.meaning.entry(old) == both.new.meaning.entry(new)
    fields = ([] if same else _carried_out(old, new)) + changed(of_entry(old), of_entry(new))
    dealt = [] if same else _axis_fields(old, new, both)
    is_cut = both.is_cut(old, new)
    if not (fields or dealt or is_cut):
        return None
    classes: list[Class] = classes_of(fields)
    if is_cut:
        classes.append("layout")
    elif dealt and both.loads:
        classes += both.loads
    elif not both.tried(old, new) and not same and (dealt or any(not classes_of([one]) for one in fields)):
        classes.append("layout")
    noted = [replace(one, note=_note(one, same, old, new, both)) for one in fields]
    found = in_class_order(classes) or ("equal",)
    return Item(starred(new.pattern), "changed", found, (*noted, *dealt), both.new.span(new), both.new.count(new))


def _carried_out(old: Entry, new: Entry) -> list[Field]:
    """The shape with lets carried out, where it is written as before and a let that it names is not."""
    if old.formula != new.formula:
        return []
    was, is_ = (f"[{', '.join(map(show, entry.dims))}]" for entry in (old, new))
    return [Field("shape", was, is_)] if was != is_ else []


def _note(one: Field, same: bool, old: Entry, new: Entry, both: _Both) -> str:
    """What the change of a field means, where that is not plain."""
    if classes_of([one]):
        return ""
    if same:
        return _EQUAL
    if both.is_cut(old, new):
        return _OTHER_ORDER if one.name == "shape" and both.same_shapes(old, new) else ""
    if not both.tried(old, new):
        return _UNTRIED
    return _SAME_LAYOUT if both.same_layouts(old, new) else _SAME_ROWS


def _axis_fields(old: Entry, new: Entry, both: _Both) -> list[Field]:
    """The axes of a tensor that are dealt otherwise than before: its own, and those that they are within."""
    was, is_ = _axes_of(old, both.old.resolved), _axes_of(new, both.new.resolved)
    note = "" if both.tried(old, new) else _UNTRIED
    return [
        Field(f"{name}.{one.name}", one.before, one.after, note)
        for name in is_
        if name in was
        for one in changed(of_axis(was[name]), of_axis(is_[name]))
    ]


def _axes_of(entry: Entry, resolved: Resolved) -> Mapping[str, Axis]:
    axes = resolved.axes_of(entry)
    used = [axis for dim in entry.dims for axis in axes_in(dim, axes)]
    used += [loop.axis for loop in entry.loops if loop.axis]
    out: dict[str, Axis] = {}
    while used:
        name = used.pop(0)
        if name not in out:
            out[name] = axes[name]
            used += [parent] if (parent := axes[name].within) else []
    return out
