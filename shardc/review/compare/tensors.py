"""The tensors of two versions of a spec, entry by entry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from shardc.diagnostics import Span
from shardc.plan.bound import Bound
from shardc.plan.kinds import axes_in
from shardc.plan.names import starred
from shardc.plan.resolved import Axis, Entry, Resolved
from shardc.review.compare.fields import changed, classes_of, of_axis, of_entry
from shardc.review.compare.meaning import Meaning
from shardc.review.compare.same_layout import same_layout
from shardc.review.diff import Class, Field, Item, MeshChange, Version, in_class_order

_OTHER_ORDER = "same size, other storage order: each rank gets other rows"
_EQUAL = "equal formula"
_SAME_LAYOUT = "same layout on every mesh"
_SAME_ROWS = "same rows on every mesh that was tried"
_UNTRIED = "no recorded checkpoint to try it on"


@dataclass
class _Both:
    """Both versions, resolved, and what came of trying them."""

    before: Version
    after: Version
    meshes: list[MeshChange]
    old: Meaning = field(init=False)
    new: Meaning = field(init=False)

    def __post_init__(self) -> None:
        assert self.before.resolved is not None and self.after.resolved is not None
        self.old, self.new = Meaning(self.before.resolved), Meaning(self.after.resolved)
        self.cut = {cut.pattern for mesh in self.meshes for cut in mesh.cuts}
        self.loads = in_class_order(one for mesh in self.meshes for one in mesh.classes if one in ("widens", "narrows"))
        self.tried = any(mesh.before.compiled and mesh.after.compiled for mesh in self.meshes)

    def bounds(self) -> Iterator[tuple[Bound, Bound]]:
        for name, bound in self.after.bound.items():
            if name in self.before.bound:
                yield self.before.bound[name], bound


def tensor_items(before: Version, after: Version, meshes: list[MeshChange]) -> tuple[Item, ...]:
    """Every tensor that was added or removed, is written otherwise, or whose axes are dealt otherwise."""
    both = _Both(before, after, meshes)
    assert before.resolved is not None and after.resolved is not None
    left = _by_pattern(before.resolved)
    out = []
    for pattern, entries in _by_pattern(after.resolved).items():
        olds = left.pop(pattern, [])
        for old, new in _paired(olds, entries):
            if old is None:
                out.append(_alone(new, "added", after))
            else:
                item = _changed(old, new, both)
                out += [item] if item is not None else []
        out += [_alone(old, "removed", before) for old in olds[len(entries) :]]
    out += [_alone(old, "removed", before) for olds in left.values() for old in olds]
    return tuple(out)


def count_of(entry: Entry, version: Version) -> int | None:
    """Tensors of the first recorded checkpoint that an entry stands for."""
    bound = next(iter(version.bound.values()), None)
    if bound is None:
        return None
    return sum(family.stored.family.count for family in bound.families if family.entry is entry)


def _by_pattern(resolved: Resolved) -> dict[str, list[Entry]]:
    out: dict[str, list[Entry]] = {}
    for entry in resolved.entries:
        out.setdefault(starred(entry.pattern), []).append(entry)
    return out


def _paired(olds: list[Entry], news: list[Entry]) -> list[tuple[Entry | None, Entry]]:
    """Entries of one pattern: first those that are written alike, then in order."""
    left = list(olds)
    alike = {}
    for i, new in enumerate(news):
        match = next((old for old in left if of_entry(old) == of_entry(new)), None)
        if match is not None:
            left.remove(match)
            alike[i] = match
    rest = iter(left)
    return [(alike[i] if i in alike else next(rest, None), new) for i, new in enumerate(news)]


def _alone(entry: Entry, status: str, version: Version) -> Item:
    shown = of_entry(entry)
    fields = tuple(
        Field(name, *((None, shown[name]) if status == "added" else (shown[name], None))) for name in ("shape", "shard")
    )
    span = _span(entry, version)
    which = "added" if status == "added" else "removed"
    return Item(starred(entry.pattern), which, ("coverage",), fields, span, count_of(entry, version))  # type: ignore[arg-type]


def _changed(old: Entry, new: Entry, both: _Both) -> Item | None:
    fields = changed(of_entry(old), of_entry(new))
    same = both.old.entry(old) == both.new.entry(new)
    if same and not fields:
        return None
    pattern = starred(new.pattern)
    dealt = [] if same or fields else _axis_fields(old, new, both)
    classes: list[Class] = classes_of(fields)
    if pattern in both.cut:
        classes.append("layout")
    elif dealt:
        classes += both.loads
    elif not both.tried and not same and not classes:
        classes.append("layout")
    if not (fields or dealt or pattern in both.cut):
        return None
    noted = [_noted(one, same, old, new, both) for one in fields]
    found = in_class_order(classes) or ("equal",)
    return Item(pattern, "changed", found, (*noted, *dealt), _span(new, both.after), count_of(new, both.after))


def _noted(one: Field, same: bool, old: Entry, new: Entry, both: _Both) -> Field:
    """A field with what its change means."""
    if classes_of([one]):
        return one
    if same:
        return Field(one.name, one.before, one.after, _EQUAL)
    if starred(new.pattern) in both.cut:
        order = one.name == "shape" and _shapes(old, both.before) == _shapes(new, both.after)
        return Field(one.name, one.before, one.after, _OTHER_ORDER if order else "")
    if not both.tried:
        return Field(one.name, one.before, one.after, _UNTRIED)
    alike = all(same_layout(old, new, before, after) for before, after in both.bounds())
    return Field(one.name, one.before, one.after, _SAME_LAYOUT if alike else _SAME_ROWS)


def _shapes(entry: Entry, version: Version) -> set[tuple[str, tuple[int, ...]]]:
    """The full shapes of an entry's tensors, in elements, by checkpoint."""
    return {
        (name, family.shape)
        for name, bound in version.bound.items()
        for family in bound.families
        if family.entry is entry
    }


def _axis_fields(old: Entry, new: Entry, both: _Both) -> list[Field]:
    """The axes of a tensor that are dealt otherwise than before: its own, and those that they are within."""
    was, is_ = _axes_of(old, both.before), _axes_of(new, both.after)
    out = []
    for name in {**is_, **was}:
        for one in changed(of_axis(was[name]) if name in was else {}, of_axis(is_[name]) if name in is_ else {}):
            out.append(Field(f"{name}.{one.name}", one.before, one.after))
    return out


def _axes_of(entry: Entry, version: Version) -> Mapping[str, Axis]:
    assert version.resolved is not None
    axes = version.resolved.axes_of(entry)
    used = [axis for dim in entry.dims for axis in axes_in(dim, axes)] + [
        loop.axis for loop in entry.loops if loop.axis
    ]
    out: dict[str, Axis] = {}
    while used:
        name = used.pop(0)
        if name not in out:
            out[name] = axes[name]
            used += [parent] if (parent := axes[name].within) else []
    return out


def _span(entry: Entry, version: Version) -> Span:
    assert version.resolved is not None
    return version.resolved.document.key(*entry.path)
