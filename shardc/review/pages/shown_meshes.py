"""Which meshes a report shows, and which of them first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from msgspec import Struct

from shardc.plan.bound import Bound
from shardc.plan.compile import Compiled, compile_plan
from shardc.rules.check import HINTED, claimed_meshes
from shardc.spec.target import Target

#: Ranks of the largest mesh that is drawn.
MOST_RANKS = 64
_PREFERRED_TP = 8

Mesh = Mapping[str, int]


class Shown(Struct, frozen=True):
    """Plans without faults, `first` the number of the one that is shown first; -1 where that one has faults.

    `asked` is what came of the mesh that was asked for, or, where none works, of the first that was tried.
    """

    compiled: tuple[Compiled, ...]
    first: int
    asked: Compiled
    mesh: Mesh


def shown_meshes(bound: Bound, target: Target | None, asked: Mesh | None) -> Shown:
    """All meshes of the target that work, of at most 64 ranks, and the one asked for; tp by powers of two without one.

    tp and ep are shown together; other mesh dims one at a time.
    """
    meshes = _of_target(bound, target) if target is not None else _powers(bound)
    if asked is not None and asked not in meshes:
        meshes = sorted([*meshes, asked], key=lambda mesh: (*mesh.values(),))
    tried = [(mesh, compile_plan(bound, mesh)) for mesh in meshes]
    working = [(mesh, one) for mesh, one in tried if one.ok]
    wanted = asked if asked is not None else _preferred([mesh for mesh, _ in working]) if working else meshes[0]
    first = next((i for i, (mesh, _) in enumerate(working) if mesh == wanted), -1)
    outcome = next(one for mesh, one in tried if mesh == wanted)
    return Shown(tuple(one for _, one in working), first, outcome, wanted)


def _of_target(bound: Bound, target: Target) -> list[Mesh]:
    every = [mesh for mesh in claimed_meshes(target, bound.resolved) if prod(mesh.values()) <= MOST_RANKS]
    return [mesh for mesh in every if _together(mesh)] or [dict.fromkeys(bound.resolved.mesh_dims, 1)]


def _together(mesh: Mesh) -> bool:
    """Whether only tp and ep, or only one other mesh dim, have more than one rank."""
    large = {dim for dim, size in mesh.items() if size > 1}
    return large <= {"tp", "ep"} or len(large) == 1


def _powers(bound: Bound) -> list[Mesh]:
    others = dict.fromkeys(bound.resolved.mesh_dims, 1)
    return [{**others, "tp": size} for size in HINTED]


def _preferred(meshes: Sequence[Mesh]) -> Mesh:
    """tp alone: the largest up to 8, or else the smallest."""
    alone = [mesh for mesh in meshes if all(size == 1 for dim, size in mesh.items() if dim != "tp")] or list(meshes)
    small = [mesh for mesh in alone if mesh.get("tp", 1) <= _PREFERRED_TP]
    return max(small, key=lambda mesh: mesh.get("tp", 1)) if small else alone[0]
