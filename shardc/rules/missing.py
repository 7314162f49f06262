"""Required tensors that the file lacks (SHD401): whole layers at once, else one finding for each entry."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from shardc.diagnostics import Diagnostic, Label, Value
from shardc.plan.bound import Bound
from shardc.plan.resolved import Loop
from shardc.rules.differences import Differences, Missing, and_more
from shardc.rules.values import config_values


def explain_layers(differences: Differences) -> None:
    """Values of a loop index under which the file has nothing at all."""
    loops = {
        loop.index: loop for m in differences.missing for loop in m.family.entry.loops if _counts(loop, m, differences)
    }
    for index, loop in loops.items():
        here = _present(index, differences)
        gone: dict[int, list[str]] = {}
        groups: set[str] = set()
        for missing in differences.missing:
            for value, name in _values(missing.family.entry.pattern, index, missing.names):
                if value not in here:
                    gone.setdefault(value, []).append(name)
                    groups.add(missing.family.entry.group)
        if gone:
            finding = _layers_finding(loop, gone, here, min(groups, key=list(_groups(differences)).index), differences)
            differences.explain(finding, {name for names in gone.values() for name in names}, set())


def _counts(loop: Loop, missing: Missing, differences: Differences) -> bool:
    """Whether an index counts places of the model: layers, not experts."""
    return loop.axis is None or differences.bound.axes_of(missing.family)[loop.axis].role == "layers"


def explain_missing(differences: Differences) -> None:
    """What is left: one finding for each stored tensor of an entry."""
    differences.findings += [_finding(missing, differences.bound) for missing in differences.missing]
    differences.missing = []


def _finding(missing: Missing, bound: Bound) -> Diagnostic:
    entry, name = missing.family.entry, missing.names[0]
    message = f"{name} is missing{and_more(missing.names)}"
    values: tuple[Value, ...] = ()
    if missing.is_companion:
        format = missing.family.stored.format.name
        message += f": {missing.weight_of(name)} is stored as {format}, which has it"
        help = "is the checkpoint complete? A quantised weight cannot be read without it"
    elif entry.tie is not None:
        help = f"it may be absent only where the config ties it to {entry.tie.name}"
        values = config_values([entry.tie.when] if entry.tie.when else [], {}, bound)
    else:
        help = "is the checkpoint complete? If the file may lack it, write `optional: true`"
    return Diagnostic("SHD401", message, Label(bound.resolved.document.key(*entry.path)), values=values, help=help)


def _layers_finding(
    loop: Loop, gone: dict[int, list[str]], here: set[int], group: str, differences: Differences
) -> Diagnostic:
    bound = differences.bound
    values = config_values((loop.stop,), {}, bound)
    said = ", ".join(f"{value.name} = {value.value}" for value in values) or "the spec"
    count = sum(map(len, gone.values()))
    many = len(gone) > 1
    message = (
        f"{loop.index} {_spans(set(gone))} {'are' if many else 'is'} not in the file: "
        f"{count} tensors missing ({gone[min(gone)][0]}, …)"
    )
    note = f"{said} asks for {'them' if many else 'it'}; the file has {loop.index} {_spans(here)}"
    label = Label(bound.resolved.document.value("groups", group, "for", loop.index))
    return Diagnostic("SHD401", message, label, values=values, notes=(note,), help="is the checkpoint complete?")


def _groups(differences: Differences) -> dict[str, None]:
    """The groups of the spec, in its order."""
    return dict.fromkeys(differences.bound.resolved.spec.groups)


def _present(index: str, differences: Differences) -> set[int]:
    """Values of the index for which the file has some tensor that the spec expects."""
    out: set[int] = set()
    for family in differences.bound.families:
        there = (name for name in family.stored.parts[0].names if name in differences.headers)
        out |= {value for value, _ in _values(family.entry.pattern, index, there)}
    return out


def _values(pattern: str, index: str, names: Iterable[str]) -> Iterator[tuple[int, str]]:
    """The value of the index in each of the pattern's names; nothing where the pattern does not use it."""
    if f"{{{index}}}" in pattern:
        matcher = _matcher(pattern, index)
        for name in names:
            if found := matcher.match(name):
                yield int(found[index]), name


def _matcher(pattern: str, index: str) -> re.Pattern[str]:
    """The pattern up to and including the index; other indices match any number."""
    head = pattern[: pattern.find(f"{{{index}}}")]
    escaped = re.sub(r"\\\{[a-z0-9_]+\\\}", r"[0-9]+", re.escape(head))
    return re.compile(f"{escaped}(?P<{index}>[0-9]+)")


def _spans(values: set[int]) -> str:
    """`0..23`, or `0, 2, 5`; `none` of no values."""
    if not values:
        return "none"
    low, high = min(values), max(values)
    whole = len(values) == high - low + 1 and high > low
    return f"{low}..{high}" if whole else ", ".join(map(str, sorted(values)))
