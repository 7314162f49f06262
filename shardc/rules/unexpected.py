"""Tensors of the file that no entry claims and nothing ignores (SHD402)."""

from __future__ import annotations

from shardc.diagnostics import Diagnostic, Label
from shardc.plan.names import starred
from shardc.rules.differences import Differences
from shardc.rules.patterns import by_pattern, shared_steps

#: Patterns that have a finding of their own; a file with more is another model's.
_MOST = 20


def explain_unexpected(differences: Differences) -> None:
    """One finding for each pattern of names (numbers apart), and one for all that come after the first 20."""
    patterns = list(by_pattern(differences.unexpected).items())
    differences.findings += [_finding(pattern, names, differences) for pattern, names in patterns[:_MOST]]
    if patterns[_MOST:]:
        differences.findings.append(_rest([name for _, names in patterns[_MOST:] for name in names], differences))
    differences.unexpected = []


def _finding(pattern: str, names: list[str], differences: Differences) -> Diagnostic:
    dtype, shape = differences.headers[names[0]]
    more = f" (and {len(names) - 1} more: {pattern})" if len(names) > 1 else ""
    return Diagnostic(
        "SHD402",
        f"{names[0]} {dtype} {list(shape)} is in the file, but no rule claims it{more}",
        _beside(pattern, differences),
        help=f"claim it in a group, or ignore it with a reason: `ignore: [{{name: {pattern}, because: …}}]`",
    )


def _rest(names: list[str], differences: Differences) -> Diagnostic:
    message = f"{names[0]} and {len(names) - 1} further tensors are in the file, but no rule claims them"
    label = Label(differences.bound.resolved.document.key("groups"))
    return Diagnostic("SHD402", message, label, help="is this the spec of the checkpoint?")


def _beside(pattern: str, differences: Differences) -> Label:
    """The group whose tensors stand nearest to these in the file, or all groups where none is near."""
    resolved = differences.bound.resolved
    nearest = max(resolved.entries, key=lambda entry: shared_steps(pattern, starred(entry.pattern)))
    if shared_steps(pattern, starred(nearest.pattern)) < 2:
        return Label(resolved.document.key("groups"))
    return Label(resolved.document.key("groups", nearest.group), "its neighbours are claimed here")
