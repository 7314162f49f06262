"""Names that are gone, and the new names that mean the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def renamed(
    was: Iterable[str], is_: Iterable[str], old: Callable[[str], str], new: Callable[[str], str]
) -> dict[str, str]:
    """By the old name; what a name means is given by `old` before and by `new` after."""
    before, after = list(was), list(is_)
    fresh: dict[str, list[str]] = {}
    for name in after:
        if name not in before:
            fresh.setdefault(new(name), []).append(name)
    gone = [name for name in before if name not in after]
    return {name: left.pop(0) for name in gone if (left := fresh.get(old(name)))}
