"""Whether two formulas cut a dim alike on every mesh, not only on those that were tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from shardc.layout.normal_form import NormalForm, Repeated, normal_form
from shardc.plan.family import Family
from shardc.review.compare.meaning import Meaning


def layouts(families: Iterable[Family], meaning: Meaning) -> Counter[object]:
    """How many tensors have each layout, with axes by what they mean: equal for what is cut alike on every mesh."""
    out: Counter[object] = Counter()
    for family in families:
        form = tuple(_named(normal_form(dim, family.scope), family, meaning) for dim in family.entry.dims)
        out[form] += family.stored.family.count
    return out


def _named(form: NormalForm, family: Family, meaning: Meaning) -> object:
    match form:
        case Repeated(str(axis), inner):
            return meaning.axis(axis, family.entry), _named(inner, family, meaning)
        case Repeated((child, parent), inner):
            axes = meaning.axis(child, family.entry), meaning.axis(parent, family.entry)
            return *axes, _named(inner, family, meaning)
        case Repeated(by, inner):
            return by, _named(inner, family, meaning)
        case tuple():
            return tuple(_named(part, family, meaning) for part in form)
    return form
