"""Required tensors that the file lacks (SHD401): grouped, so that one cause is one finding."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches

from shardc.diagnostics import Diagnostic, Label, Value
from shardc.layout.expr import names as names_in
from shardc.plan.bound import Bound, Family
from shardc.plan.evidence import Header
from shardc.plan.stored import StoredPart

Missing = list[tuple[Family, StoredPart, list[str]]]


def missing_findings(
    missing: Missing, unexpected: list[str], bound: Bound, headers: Mapping[str, Header]
) -> list[Diagnostic]:
    """A shifted prefix or whole missing layers explain many names at once; the rest is one finding an entry."""
    if not missing:
        return []
    prefix = _prefix_finding(missing, unexpected, bound)
    if prefix is not None:
        return [prefix]
    layers, rest = _layer_findings(missing, bound, headers)
    return layers + [_finding(family, part, names, unexpected, bound) for family, part, names in rest]


def _finding(family: Family, part: StoredPart, names: list[str], unexpected: list[str], bound: Bound) -> Diagnostic:
    near = get_close_matches(names[0], unexpected, n=1, cutoff=0.8)
    companion = part.part is not None and part.names != family.names
    name = names[0]
    message = f"{name} is missing" + (f" (and {len(names) - 1} more like it)" if len(names) > 1 else "")
    if companion:
        message += f": {family.names[0]} is stored as {family.stored.format.name}, which has it"
    help = f"the file has {near[0]}: renamed?" if near else "if the file may lack it, write `optional: true`"
    if family.entry.tie is not None:
        help = f"{name} may be absent only where the config ties it to {family.entry.tie.name}"
    return Diagnostic("SHD401", message, Label(bound.resolved.document.key(*family.entry.path)), help=help)


def _prefix_finding(missing: Missing, unexpected: list[str], bound: Bound) -> Diagnostic | None:
    """The same suffixes stand in the file under another prefix."""
    names = [name for _, _, group in missing for name in group]
    wanted = names[0].split(".")
    for cut in range(1, len(wanted)):
        suffix = "." + ".".join(wanted[cut:])
        other = next((name for name in unexpected if name.endswith(suffix)), None)
        if other is None:
            continue
        ours, theirs = names[0].removesuffix(suffix), other.removesuffix(suffix)
        found = set(unexpected)
        moved = [n for n in names if n.startswith(ours + ".") and theirs + n.removeprefix(ours) in found]
        if len(moved) != len(names):
            return None
        label = Label(bound.resolved.document.key(*missing[0][0].entry.path))
        message = f"{names[0]} is missing, {other} is there: the prefix is {theirs}, not {ours} ({len(names)} tensors)"
        return Diagnostic("SHD401", message, label, help=f"write `{theirs}.` for `{ours}.` in `at:` and names")
    return None


def _layer_findings(missing: Missing, bound: Bound, headers: Mapping[str, Header]) -> tuple[list[Diagnostic], Missing]:
    """Values of a loop index under which nothing is in the file at all."""
    out: list[Diagnostic] = []
    rest = missing
    for index in dict.fromkeys(loop.index for family, _, _ in missing for loop in family.entry.loops if not loop.axis):
        here = _present(index, bound, headers)
        gone: dict[int, list[str]] = {}
        kept: Missing = []
        for family, part, names in rest:
            left = []
            for name in names:
                value = _value(family.entry.pattern, index, name)
                if value is None or value in here:
                    left.append(name)
                else:
                    gone.setdefault(value, []).append(name)
            if left:
                kept.append((family, part, left))
        if gone:
            rest = kept
            out.append(_layers_finding(index, gone, here, missing[0][0], bound))
    return out, rest


def _layers_finding(index: str, gone: dict[int, list[str]], here: set[int], family: Family, bound: Bound) -> Diagnostic:
    which = ", ".join(map(str, sorted(gone)))
    count = sum(map(len, gone.values()))
    loop = next((lp for lp in family.entry.loops if lp.index == index), None)
    used = sorted(names_in(loop.stop)) if loop else []
    values = tuple(
        Value(bound.resolved.symbols[n].keys[0], bound.values[n], bound.symbols.sources.get(n, ""))
        for n in used
        if n in bound.values
    )
    said = ", ".join(f"{value.name} = {value.value}" for value in values)
    message = f"{index} {which} is not in the file: {count} tensors missing ({gone[min(gone)][0]}, …)"
    note = f"{said or 'the spec'} says so; the file has {len(here)} of {index}: {_spans(here)}"
    label = Label(bound.resolved.document.value("groups", family.entry.group, "for", index))
    return Diagnostic("SHD401", message, label, values=values, notes=(note,), help="is the checkpoint complete?")


def _present(index: str, bound: Bound, headers: Mapping[str, Header]) -> set[int]:
    """Values of the index for which the file has some tensor that the spec expects."""
    out: set[int] = set()
    for family in bound.families:
        if f"{{{index}}}" in family.entry.pattern:
            matches = _matcher(family.entry.pattern, index)
            first = family.stored.parts[0]
            out |= {int(m[index]) for name in first.names if name in headers and (m := matches.match(name))}
    return out


def _value(pattern: str, index: str, name: str) -> int | None:
    found = _matcher(pattern, index).match(name)
    return int(found[index]) if found and index in found.groupdict() else None


def _matcher(pattern: str, index: str) -> re.Pattern[str]:
    """The pattern up to and including the index; other indices match any number."""
    head = pattern[: pattern.find(f"{{{index}}}")] if f"{{{index}}}" in pattern else pattern
    escaped = re.sub(r"\\\{[a-z0-9_]+\\\}", r"[0-9]+", re.escape(head))
    return re.compile(f"{escaped}(?P<{index}>[0-9]+)")


def _spans(values: set[int]) -> str:
    """0..23, or the numbers."""
    if not values:
        return "none"
    low, high = min(values), max(values)
    return f"{low}..{high}" if len(values) == high - low + 1 else ", ".join(map(str, sorted(values)))
