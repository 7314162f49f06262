"""Which sizes of a mesh dim work, everything considered."""

from __future__ import annotations

from collections.abc import Mapping

from shardc.plan.bound import Bound
from shardc.plan.compile import compile_plan

UP_TO = 64
#: For each mesh dim, further sizes of it with the same fault.
Also = Mapping[str, tuple[int, ...]]


def also_at(over: str, sizes: tuple[int, ...]) -> tuple[str, ...]:
    """The note that names further sizes of a mesh dim with the same fault; none where there are none."""
    return (f"also at {over} = {', '.join(map(str, sizes))}",) if sizes else ()


def also_at_each(also: Also) -> tuple[str, ...]:
    """The notes that name further sizes of several mesh dims."""
    return tuple(note for over, sizes in also.items() for note in also_at(over, sizes))


def valid_sizes(bound: Bound, mesh: Mapping[str, int], over: str) -> tuple[int, ...]:
    """Sizes 1 .. 64 of the mesh dim `over` that compile where every other mesh dim has one rank.

    The others may be wrong too, and what is wrong with them is said of them.
    """
    others = dict.fromkeys(mesh, 1)
    return tuple(n for n in range(1, UP_TO + 1) if compile_plan(bound, {**others, over: n}).ok)
