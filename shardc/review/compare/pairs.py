"""The tensors of a checkpoint as two versions of a spec see them: those that both know, by name."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from shardc.plan.bound import Bound
from shardc.plan.family import Family
from shardc.plan.stored import StoredPart


class Held(Struct, frozen=True):
    """Stored tensors that one version of a spec has alike; `at` are the positions of those that are meant."""

    family: Family
    part: StoredPart
    at: tuple[int, ...]

    @property
    def count(self) -> int:
        return len(self.at)


class Pair(Struct, frozen=True):
    """Tensors of the file that are alike before, and alike after; None where that version has no such tensor."""

    before: Held | None
    after: Held | None

    @property
    def held(self) -> Held:
        """After, or, if they are gone, before."""
        held = self.after or self.before
        assert held is not None
        return held


def pairs(before: Bound | None, after: Bound | None) -> list[Pair]:
    """Every stored tensor of both, in the order of the version after; those that are gone come last."""
    left = list(_parts(before))
    where = {name: (k, i) for k, (_, part) in enumerate(left) for i, name in enumerate(part.names)}
    out = []
    for family, part in _parts(after):
        groups: dict[int | None, tuple[list[int], list[int]]] = {}
        for j, name in enumerate(part.names):
            k, i = where.pop(name, (None, 0))
            was, is_ = groups.setdefault(k, ([], []))
            was.append(i)
            is_.append(j)
        for k, (was, is_) in groups.items():
            now = Held(family, part, tuple(is_))
            out.append(Pair(None if k is None else Held(*left[k], tuple(was)), now))
    gone: dict[int, list[int]] = {}
    for k, i in where.values():
        gone.setdefault(k, []).append(i)
    return out + [Pair(Held(*left[k], tuple(at)), None) for k, at in gone.items()]


def _parts(bound: Bound | None) -> Iterator[tuple[Family, StoredPart]]:
    for family in bound.families if bound is not None else ():
        for part in family.stored.parts:
            yield family, part
