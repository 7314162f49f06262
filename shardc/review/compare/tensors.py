"""The tensors of two versions of a spec, entry by entry."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import zip_longest
from typing import Literal

from msgspec.structs import replace

from shardc.layout.permutation import factors
from shardc.layout.show import show
from shardc.plan.collectives import implied
from shardc.plan.kinds import axes_in
from shardc.plan.names import starred
from shardc.plan.resolved import Axis, Entry, Resolved
from shardc.review.compare.both import Both, Seen, Trial
from shardc.review.compare.dealing import classes_of_dealing
from shardc.review.compare.fields import WORK, changed, classes_of, of_axis, of_entry
from shardc.review.diff import Class, Field, Item, MeshChange, Version, in_class_order

_OTHER_ORDER = "same size, other storage order: each rank gets other rows"
_OTHER_ROWS = "same size, other rows"
_EQUAL = "equal formula"
_SAME_LAYOUT = "same layout on every mesh"
_SAME_TENSORS = "same tensors in every recorded checkpoint"
_SAME_NAMES = "same tensors"
_SAME_ROWS = "same rows on every mesh that was tried"
_UNTRIED = "no recorded checkpoint to try it on"
_KNOWN = "its tensors stand elsewhere in the other version"
#: Fields that decide which tensors there are, and not how one is cut.
_WHICH = ("when", "for")


def tensor_items(before: Version, after: Version, meshes: list[MeshChange]) -> tuple[Item, ...]:
    """Every tensor that was added or removed, is written otherwise, or whose axes are dealt otherwise."""
    both = Both(before, after, meshes)
    olds, news = _by_pattern(both.old.resolved), _by_pattern(both.new.resolved)
    out: list[Item] = []
    for pattern in dict.fromkeys([*news, *olds]):
        for old, new in _paired(olds.get(pattern, []), news.get(pattern, [])):
            if old is not None and new is not None:
                item = _changed(old, new, both)
                out += [item] if item is not None else []
            elif new is not None:
                out.append(_alone(new, "added", both.new, both))
            elif old is not None:
                out.append(_alone(old, "removed", both.old, both))
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


def _alone(entry: Entry, status: Literal["added", "removed"], seen: Seen, both: Both) -> Item:
    """An entry that only one version has. Its tensors may all be those of an entry with another name or range."""
    trial = both.trial(entry)
    known = trial.seen and trial.complete
    notes = {"shape": _KNOWN if known else "", "shard": ""}
    shown = of_entry(entry)
    fields = tuple(
        Field(name, None, shown[name], note) if status == "added" else Field(name, shown[name], None, note)
        for name, note in notes.items()
    )
    found: Class = "coverage" if not known else "equal" if trial.alike else "layout"
    return Item(starred(entry.pattern), status, (found,), fields, seen.span(entry), seen.count(entry))


def _changed(old: Entry, new: Entry, both: Both) -> Item | None:
    same = both.old.meaning.entry(old) == both.new.meaning.entry(new)
    fields = changed(of_entry(old), of_entry(new))
    if not same:
        fields = [*_lets(old, new), *fields, *_work(old, new, both)]
    axes = [] if same else _axes_dealt_otherwise(old, new, both)
    dealt = [Field(f"{name}.{f.name}", f.before, f.after) for name, *two in axes for f in changed(*map(of_axis, two))]
    cut = both.is_cut(new)
    if not (fields or dealt or cut):
        return None
    trial = both.trial(old, new)
    classes: list[Class] = ["layout"] if cut else []
    if not same:
        classes += classes_of(fields) + _loads_otherwise(old, new)
        if not (cut or trial.proved):
            classes += _unproved(old, new, fields, both)
            classes += _redealt(axes)
            classes += both.loads if dealt else ()
        if not trial.complete:
            classes.append("coverage")
    noted = [replace(one, note=_EQUAL if same else _note(one, old, new, trial, both)) for one in fields]
    if trial.proved:
        dealt = [replace(one, note=_SAME_LAYOUT) for one in dealt]
    found = in_class_order(classes) or ("equal",)
    return Item(starred(new.pattern), "changed", found, (*noted, *dealt), both.new.span(new), both.new.count(new))


def _lets(old: Entry, new: Entry) -> list[Field]:
    """The shape with its lets written out, where only they differ."""
    was, is_ = (f"[{', '.join(map(show, entry.dims))}]" for entry in (old, new))
    return [Field("shape", was, is_)] if was != is_ and old.formula == new.formula else []


def _work(old: Entry, new: Entry, both: Both) -> list[Field]:
    """The collectives that the model has to do after the tensor."""
    was, is_ = (
        ", ".join(sorted({f"{one.what} over {one.over}" for one in implied(entry, side.resolved)})) or None
        for entry, side in ((old, both.old), (new, both.new))
    )
    return [Field(WORK, was, is_)] if was != is_ else []


def _loads_otherwise(old: Entry, new: Entry) -> list[Class]:
    """Files in a dtype that both versions take load as another one, or those that lack it as another tensor."""
    both = [dtype for dtype in old.dtypes if dtype in new.dtypes]
    cast = any((old.load or dtype) != (new.load or dtype) for dtype in both)
    tied = old.tie is not None and new.tie is not None and old.tie.name != new.tie.name
    return ["layout"] if cast or tied else []


def _redealt(axes: list[tuple[str, Axis, Axis]]) -> list[Class]:
    """What has to be assumed of axes that are not the same: another size, mesh dim or parent may be any layout."""
    out = [one for _, was, is_ in axes for one in classes_of_dealing(was.how, is_.how)]
    others = (one.name for _, was, is_ in axes for one in changed(of_axis(was), of_axis(is_)))
    return [*out, "layout"] if {"size", "over", "within"} & {*others} else out


def _unproved(old: Entry, new: Entry, fields: list[Field], both: Both) -> list[Class]:
    """What has to be assumed of fields that are written otherwise, if nothing shows that the cuts are the same."""
    kinds = old.kind == new.kind or old.rank0_dim == new.rank0_dim
    alike = ("load", "collective", *(["shard"] if kinds else []))
    left = {one.name for one in fields if one.name not in alike and not explains_itself(one)}
    out: list[Class] = [] if both.same_names(old, new) else ["coverage"]
    return out + (["layout"] if left - set(_WHICH) or not both.same_selection(old, new) else [])


def explains_itself(field: Field) -> bool:
    """Whether a field has its own class, or is a list in another order."""
    if field.name in ("dtype", "formats"):
        return True
    return bool(classes_of([field]))


def _note(one: Field, old: Entry, new: Entry, trial: Trial, both: Both) -> str:
    """What the change of a field means, where that is not plain."""
    if explains_itself(one) or one.name == "collective":
        return ""
    if both.is_cut(new):
        if one.name != "shape" or not both.same_shapes(old, new):
            return ""
        return _OTHER_ORDER if _turned(old, new) else _OTHER_ROWS
    if one.name in _WHICH:
        if both.same_names(old, new):
            return _SAME_NAMES
        return _SAME_TENSORS if trial.seen and trial.complete else "" if trial.seen else _UNTRIED
    if trial.proved:
        return _SAME_LAYOUT if one.name != "load" else ""
    return _SAME_ROWS if trial.seen else _UNTRIED


def _turned(old: Entry, new: Entry) -> bool:
    """Whether each dim has the factors that it had, in whatever order."""
    factors_ = [[sorted(map(show, factors(dim))) for dim in entry.dims] for entry in (old, new)]
    return factors_[0] == factors_[1]


def _axes_dealt_otherwise(old: Entry, new: Entry, both: Both) -> list[tuple[str, Axis, Axis]]:
    """The axes of a tensor that are dealt otherwise than before: its own, and those that they are within."""
    was, is_ = _axes_of(old, both.old.resolved), _axes_of(new, both.new.resolved)
    return [
        (name, was[name], is_[name])
        for name in is_
        if name in was and both.old.meaning.axis(name, old) != both.new.meaning.axis(name, new)
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
