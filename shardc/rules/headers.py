"""Shapes and dtypes in the file against those of the spec (SHD403, SHD404)."""

from __future__ import annotations

from collections.abc import Mapping, Set
from math import prod

from shardc.diagnostics import Diagnostic, Label
from shardc.layout.units import CutError
from shardc.plan.bound import Bound
from shardc.plan.evidence import Header
from shardc.plan.family import Family
from shardc.plan.plan import Plan
from shardc.plan.stored import StoredPart
from shardc.rules.differences import and_more
from shardc.rules.values import config_values


def compare(
    plan: Plan, family: Family, part: StoredPart, headers: Mapping[str, Header], explained: Set[str]
) -> list[Diagnostic]:
    """One stored tensor of a family; equal findings are one, with the number of tensors. `explained` are left out."""
    try:
        expected = plan.part_shape(family, part)
    except CutError:
        return []  # a width that is not whole units is a fault of the spec, and reported as such (SHD213)
    legal = part.part.dtypes if part.part else family.entry.dtypes
    wrong: dict[tuple[str, Header], list[str]] = {}
    found = {part.header} if part.header else {header for name in part.names if (header := headers.get(name))}
    for header in found:
        dtype, shape = header
        if shape != expected and not (expected == () and shape == (1,)):
            wrong["shape", header] = []
        if dtype not in legal:
            wrong["dtype", header] = []
    if not wrong:
        return []
    for name in part.names:
        header_ = headers.get(name)
        for what in ("shape", "dtype"):
            if header_ is not None and (what, header_) in wrong and name not in explained:
                wrong[what, header_].append(name)
    return [
        _shape(plan.bound, family, names, header[1], expected)
        if what == "shape"
        else _dtype(plan.bound, family, part, names, header[0])
        for (what, header), names in wrong.items()
        if names
    ]


def shape_hint(found: tuple[int, ...], expected: tuple[int, ...]) -> str:
    """What a wrong shape looks like: the expected one permuted, or one dim of it divided."""
    if sorted(found) == sorted(expected):
        return "transposed: the file stores the dims in another order (`dims: [in, out]` says so)"
    if len(found) == len(expected):
        off = [(f, e) for f, e in zip(found, expected, strict=True) if f != e]
        if len(off) == 1 and off[0][0] and off[0][1] % off[0][0] == 0:
            return f"already cut for {off[0][1] // off[0][0]} ranks: this is a rank's shard, not the whole tensor"
    if prod(found) == prod(expected):
        return "the same number of elements in another shape: reshaped or packed differently"
    return ""


def _shape(
    bound: Bound, family: Family, names: list[str], found: tuple[int, ...], expected: tuple[int, ...]
) -> Diagnostic:
    entry = family.entry
    packed = f", stored as {family.stored.format.name}" if family.stored.format.parts else ""
    return Diagnostic(
        "SHD403",
        f"{names[0]}: shape {list(found)} in the file, {list(expected)} by the spec{and_more(names)}",
        Label(bound.resolved.document.value(*entry.path, "shape"), f"{entry.formula} = {list(family.shape)}{packed}"),
        values=config_values(entry.dims, bound.axes_of(family), bound),
        help=shape_hint(found, expected) or "correct the formula, or the config symbols in it",
    )


def _dtype(bound: Bound, family: Family, part: StoredPart, names: list[str], found: str) -> Diagnostic:
    entry, format = family.entry, family.stored.format
    if part.part is not None:
        legal = [f"{dtype} ({format.name})" for dtype in part.part.dtypes]
        help = f"{format.name} stores it as {' or '.join(part.part.dtypes)}: is this another format?"
    else:
        legal = [f"{dtype} (dense)" for dtype in entry.dtypes]
        alike = [f for f in entry.formats if f.parts and f.parts[0].named(names[0]) == names[0]]
        legal += [f"{dtype} ({f.name})" for f in alike for dtype in f.parts[0].dtypes]
        help = f"if {found} is right, add it: `dtype: {{file: [{', '.join((*entry.dtypes, found))}]}}`"
    where = (*entry.path, "dtype") if entry.own_dtype else entry.path
    return Diagnostic(
        "SHD404",
        f"{names[0]} is {found}; legal: {', '.join(legal)}{and_more(names)}",
        Label(bound.resolved.document.value(*where)),
        help=help,
    )
