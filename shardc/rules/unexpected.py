"""Tensors of the file that no entry claims and nothing ignores (SHD402)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches

from shardc.diagnostics import Diagnostic, Label
from shardc.plan.bound import Bound, Family
from shardc.plan.evidence import Header
from shardc.plan.stored import StoredPart

_NUMBER = re.compile(r"(?<=\.)[0-9]+(?=\.)")


def unexpected_findings(
    names: list[str],
    missing: list[tuple[Family, StoredPart, list[str]]],
    bound: Bound,
    headers: Mapping[str, Header],
) -> list[Diagnostic]:
    """One finding for each pattern of names (numbers apart)."""
    patterns: dict[str, list[str]] = {}
    for name in names:
        patterns.setdefault(_NUMBER.sub("*", name), []).append(name)
    gone = [name for _, _, group in missing for name in group]
    return [_finding(pattern, group, gone, bound, headers) for pattern, group in patterns.items()]


def _finding(
    pattern: str, names: list[str], gone: list[str], bound: Bound, headers: Mapping[str, Header]
) -> Diagnostic:
    name = names[0]
    dtype, shape = headers[name]
    more = f" (and {len(names) - 1} more: {pattern})" if len(names) > 1 else ""
    near = get_close_matches(name, gone, n=1, cutoff=0.8)
    if near:
        help = f"the spec expects {near[0]}: renamed?"
    else:
        help = f"claim it in a group, or ignore it with a reason: `ignore: [{{name: {pattern}, because: …}}]`"
    return Diagnostic(
        "SHD402",
        f"{name} {dtype} {list(shape)} is in the file, but no rule claims it{more}",
        Label(bound.resolved.document.key("groups")),
        help=help,
    )
