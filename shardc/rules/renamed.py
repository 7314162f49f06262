"""Tensors that the file has under another name: a shifted prefix (all at once), or one word of one name (SHD401)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from shardc.diagnostics import Diagnostic, Label
from shardc.rules.differences import Differences, Missing, and_more
from shardc.rules.formats import weights_of
from shardc.rules.patterns import by_pattern, closest, pattern_of


def explain_prefix(differences: Differences, ignored: Callable[[str], bool]) -> None:
    """The same names stand in the file under another prefix. `ignored` tells of a name what the spec ignores."""
    names = [name for missing in differences.missing for name in missing.names]
    if len(names) < 2:
        return
    found = set(differences.unexpected)
    for ours, theirs in _prefixes(names[0], differences.unexpected):
        moved = {n: theirs + n.removeprefix(ours) for n in names if n.startswith(ours)}
        moved = {name: there for name, there in moved.items() if there in found}
        if 2 * len(moved) < len(names):
            continue
        along = {n for n in found if n.startswith(theirs) and _follows(ours + n.removeprefix(theirs), moved, ignored)}
        finding = _prefix_finding(differences.missing[0], ours, theirs, len(moved), differences)
        differences.explain(finding, set(moved), {*moved.values(), *along})
        return


def _follows(name: str, moved: Mapping[str, str], ignored: Callable[[str], bool]) -> bool:
    """Whether a name, put back under our prefix, is one that the spec ignores, or a companion of a moved weight."""
    return ignored(name) or any(weight in moved for _, weight in weights_of(name))


def _prefixes(name: str, unexpected: list[str]) -> Iterator[tuple[str, str]]:
    """Prefixes, ours and theirs, dots included, under which the rest of `name` stands in the file."""
    steps = name.split(".")
    for cut in range(len(steps)):
        rest = ".".join(steps[cut:])
        ours = name.removesuffix(rest)
        for other in unexpected:
            if other.endswith(rest):
                theirs = other.removesuffix(rest)
                if theirs == "" or theirs.endswith("."):
                    yield ours, theirs
                    break


def _prefix_finding(missing: Missing, ours: str, theirs: str, count: int, differences: Differences) -> Diagnostic:
    name = missing.names[0]
    there = theirs + name.removeprefix(ours)
    if ours and theirs:
        what = f"the prefix is {theirs.rstrip('.')}, not {ours.rstrip('.')}"
        help = f"write `{theirs}` for `{ours}` in `at:` and in names"
    elif theirs:
        what, help = f"the names begin with {theirs}", f"put `{theirs}` before the names here"
    else:
        what, help = f"the names do not begin with {ours}", f"take `{ours}` off the names here"
    message = f"{name} is missing, {there} is there: {what} ({count} tensors)"
    label = Label(differences.bound.resolved.document.key(*missing.family.entry.path))
    return Diagnostic("SHD401", message, label, help=help)


def explain_renames(differences: Differences) -> None:
    """A missing name and an unexpected one that read alike, and all names that differ in the same way."""
    patterns = by_pattern(differences.unexpected)
    found = set(differences.unexpected)
    for missing in list(differences.missing):
        fitting = (pattern for pattern, names in patterns.items() if _fits(missing, names[0], differences))
        near = closest(pattern_of(missing.names[0]), fitting)
        if near is None:
            continue
        moved = _moved(missing.names, patterns[near][0], found)
        differences.explain(_rename_finding(missing, moved, differences), set(moved), set(moved.values()))
        found.difference_update(moved.values())
        patterns[near] = [name for name in patterns[near] if name in found]
        if not patterns[near]:
            del patterns[near]


def _fits(missing: Missing, there: str, differences: Differences) -> bool:
    """Whether the other tensor could be the missing one; a companion's shape is left to its format."""
    return missing.part.part is not None or differences.headers[there][1] == missing.family.shape


def _moved(names: list[str], other: str, found: set[str]) -> dict[str, str]:
    """What the file calls each of `names`, judging by `other`, which stands for the first of them."""
    old, new = _changed(names[0], other)
    alike = {name: there for name in names if old and (there := name.replace(old, new, 1)) in found}
    return alike or {names[0]: other}


def _changed(name: str, other: str) -> tuple[str, str]:
    """The dotted steps in which two names differ, numbers left out: `down_proj`, `down_projection`."""
    a, b = name.split("."), other.split(".")
    if len(a) != len(b):
        return "", ""
    steps = [(x, y) for x, y in zip(a, b, strict=True) if x != y and not (x.isdigit() and y.isdigit())]
    return steps[0] if len(steps) == 1 else ("", "")


def _rename_finding(missing: Missing, moved: dict[str, str], differences: Differences) -> Diagnostic:
    name, there = next(iter(moved.items()))
    dtype, shape = differences.headers[there]
    message = f"{name} is missing, {there} is there{and_more(list(moved))}"
    label = Label(differences.bound.resolved.document.key(*missing.family.entry.path))
    help = f"renamed? {there} is {dtype} {list(shape)}: correct the name here, or in the file"
    return Diagnostic("SHD401", message, label, help=help)
