"""Tensor names with their numbers apart: a checkpoint of 100,000 tensors has some hundred patterns."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from functools import lru_cache

_NUMBER = re.compile(r"(?<![A-Za-z0-9_])[0-9]+(?![A-Za-z0-9_])")

#: Patterns that a close match is looked for among; comparing more takes long and helps nobody.
_COMPARED = 300


@lru_cache(2**18)
def pattern_of(name: str) -> str:
    """A name with its numbers apart: `model.layers.*.mlp.up_proj.weight`."""
    return _NUMBER.sub("*", name)


def by_pattern(names: Iterable[str]) -> dict[str, list[str]]:
    """Names by their pattern, in order."""
    out: dict[str, list[str]] = {}
    for name in names:
        out.setdefault(pattern_of(name), []).append(name)
    return out


def closest(wanted: str, others: Iterable[str]) -> str | None:
    """The pattern among the first few hundred of `others` that reads like this one, if any does."""
    candidates = [other for _, other in zip(range(_COMPARED), others, strict=False)]
    return next(iter(get_close_matches(wanted, candidates, n=1, cutoff=0.8)), None)


def shared_steps(a: str, b: str) -> int:
    """How many dotted steps two patterns have in common at their start."""
    same = 0
    for x, y in zip(a.split("."), b.split("."), strict=False):
        if x != y:
            break
        same += 1
    return same
