"""A spec against a checkpoint's headers, both ways: SHD401 missing, SHD402 unexpected, SHD403 shape, SHD404 dtype.

Every tensor of the file is claimed by exactly one entry or ignored with a reason; every required one is found.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import translate
from math import prod

from shardc.diagnostics import Diagnostic, Label, Value
from shardc.layout.show import show
from shardc.layout.units import CutError
from shardc.plan.bound import Bound, Family
from shardc.plan.compile import compile_plan
from shardc.plan.evidence import Header
from shardc.plan.plan import Plan
from shardc.plan.stored import StoredPart
from shardc.rules.missing import missing_findings
from shardc.rules.unexpected import unexpected_findings


@dataclass
class Coverage:
    """What was compared: tensors claimed and ignored, and the bytes of both in the file."""

    claimed: int = 0
    ignored: int = 0
    findings: list[Diagnostic] = field(default_factory=list)


def check(bound: Bound, headers: Mapping[str, Header]) -> Coverage:
    """Compare every tensor that the spec expects with the file, and every tensor of the file with the spec."""
    out = Coverage()
    whole = compile_plan(bound, dict.fromkeys(bound.resolved.mesh_dims, 1)).plan
    if whole is None:
        return out
    claimed: set[str] = set()
    missing: list[tuple[Family, StoredPart, list[str]]] = []
    for family in whole.families:
        for part in family.stored.parts:
            claimed.update(part.names)
            absent = [name for name in part.names if name not in headers]
            if absent:
                missing.append((family, part, absent))
            out.findings += _compare(whole, family, part, headers)
    others = [name for name in headers if name not in claimed]
    ignored = _ignored(bound, others)
    unexpected = [name for name in others if name not in ignored]
    out.findings += missing_findings(missing, unexpected, bound, headers)
    out.findings += unexpected_findings(unexpected, missing, bound, headers)
    out.claimed, out.ignored = len(headers) - len(others), len(ignored)
    out.findings += _tied_but_present(bound, headers)
    return out


def _ignored(bound: Bound, names: list[str]) -> set[str]:
    globs = [ignore.name for ignore in bound.resolved.spec.ignore]
    if not globs:
        return set()
    matches = re.compile("|".join(map(translate, globs))).match
    return {name for name in names if matches(name)}


def _compare(plan: Plan, family: Family, part: StoredPart, headers: Mapping[str, Header]) -> list[Diagnostic]:
    """Shape and dtype of one stored tensor of a family; equal findings are one, with the number of tensors."""
    try:
        expected = plan.part_shape(family, part)
    except CutError as error:
        label = Label(plan.bound.resolved.document.value(*family.entry.path, "shape"))
        return [Diagnostic(error.code, f"{part.names[0]}: {error.message}", label)]
    legal = _legal_dtypes(family, part)
    wrong: dict[tuple[str, Header], list[str]] = {}
    for header in {header for name in part.names if (header := headers.get(name))}:
        dtype, shape = header
        if shape != expected and not (expected == () and shape == (1,)):
            wrong[("shape", header)] = []
        if dtype not in legal:
            wrong[("dtype", header)] = []
    if not wrong:
        return []
    for name in part.names:
        for what in ("shape", "dtype"):
            header = headers.get(name)
            if header is not None and (what, header) in wrong:
                wrong[what, header].append(name)
    return [
        _shape(plan.bound, family, names, header[1], expected)
        if what == "shape"
        else _dtype(plan.bound, family, names, header[0])
        for (what, header), names in wrong.items()
    ]


def _legal_dtypes(family: Family, part: StoredPart) -> tuple[str, ...]:
    return part.part.dtypes if part.part else family.entry.dtypes


def _shape(
    bound: Bound, family: Family, names: list[str], found: tuple[int, ...], expected: tuple[int, ...]
) -> Diagnostic:
    formulas = ", ".join(show(expr) for expr in family.entry.written)
    label = Label(bound.resolved.document.value(*family.entry.path, "shape"), f"[{formulas}]")
    hint = shape_hint(found, expected)
    return Diagnostic(
        "SHD403",
        f"{names[0]}: shape {list(found)} in the file, {list(expected)} by the spec{_and_more(names)}",
        label,
        values=(Value("file", list(found), bound.evidence.name), Value("spec", list(expected), f"[{formulas}]")),
        help=hint or "correct the formula, or the config symbols in it",
    )


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


def _dtype(bound: Bound, family: Family, names: list[str], found: str) -> Diagnostic:
    entry = family.entry
    legal = [f"{dtype} (dense)" for dtype in entry.dtypes if any(not f.parts for f in entry.formats)]
    legal += [f"{dtype} ({f.name})" for f in entry.formats if f.parts for dtype in f.parts[0].dtypes]
    if names[0] not in family.names:
        part = next(p for p in family.stored.parts if p.names and names[0] in p.names)
        legal = [f"{dtype} ({family.stored.format.name})" for dtype in _legal_dtypes(family, part)]
    where = (*entry.path, "dtype") if entry.own_dtype else entry.path
    return Diagnostic(
        "SHD404",
        f"{names[0]} is {found}; legal: {', '.join(legal)}{_and_more(names)}",
        Label(bound.resolved.document.value(*where)),
        help=f"if {found} is right, add it: `dtype: {{file: [{', '.join((*entry.dtypes, found))}]}}`",
    )


def _and_more(names: list[str]) -> str:
    return f" (and {len(names) - 1} more like it)" if len(names) > 1 else ""


def _tied_but_present(bound: Bound, headers: Mapping[str, Header]) -> list[Diagnostic]:
    out = []
    for family in bound.families:
        tie = family.entry.tie
        if tie is None or not bound.is_tied(family.entry):
            continue
        for name in family.names:
            if name in headers:
                label = Label(bound.resolved.document.value(*family.entry.path, "tied_to"))
                message = f"{name} is in the file, though the config ties it to {tie.name}"
                help = "it is loaded as a tensor of its own: a tensor of the file is never dropped because of a flag"
                out.append(Diagnostic("SHD411", message, label, help=help, severity="warning"))
    return out
