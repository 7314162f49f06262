"""Whether two formulas cut a dim alike on every mesh, not only on those that were tried."""

from __future__ import annotations

from shardc.layout.normal_form import NormalForm, Repeated, normal_form
from shardc.plan.bound import Bound
from shardc.plan.family import Family
from shardc.plan.resolved import Entry
from shardc.review.compare.meaning import Meaning


def same_layout(old: Entry, new: Entry, before: Bound, after: Bound) -> bool:
    """Whether all tensors of one recorded checkpoint that both entries stand for have one layout, in both."""
    was, is_ = _forms(old, before), _forms(new, after)
    return bool(is_) and was == is_


def _forms(entry: Entry, bound: Bound) -> set[tuple[object, ...]]:
    """The layouts of the entry's tensors, and how many have each."""
    meaning = Meaning(bound.resolved)
    out: dict[tuple[object, ...], int] = {}
    for family in bound.families:
        if family.entry is entry:
            form = _form(family, meaning)
            out[form] = out.get(form, 0) + len(family.names)
    return {(*form, count) for form, count in out.items()}


def _form(family: Family, meaning: Meaning) -> tuple[object, ...]:
    return tuple(_named(normal_form(dim, family.scope), family.entry, meaning) for dim in family.entry.dims)


def _named(form: NormalForm, entry: Entry, meaning: Meaning) -> object:
    """The form with axes by what they mean, instead of by their names."""
    match form:
        case Repeated(str(axis), inner):
            return meaning.axis(axis, entry), _named(inner, entry, meaning)
        case Repeated((child, parent), inner):
            return meaning.axis(child, entry), meaning.axis(parent, entry), _named(inner, entry, meaning)
        case Repeated(by, inner):
            return by, _named(inner, entry, meaning)
        case tuple():
            return tuple(_named(part, entry, meaning) for part in form)
    return form
