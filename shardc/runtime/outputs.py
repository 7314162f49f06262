"""What a generated module says of its outputs: tensors that a rank builds of several of the file's, or of one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from shardc.runtime.axes import Axis
from shardc.runtime.errors import ShardError


class Turn(NamedTuple):
    """Rows of a granule that change places.

    Row (i, j, …) of `sizes` lies at start + i * strides[0] + j * strides[1] + … of the file's granule, and at
    place + i * to[0] + j * to[1] + … of the output's.
    """

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    to: tuple[int, ...]
    start: int = 0
    place: int = 0


class Granules(NamedTuple):
    """`number` granules of `size` local rows each, in which rows change places alike; no turns: all rows stay."""

    number: int
    size: int = 1
    turns: tuple[Turn, ...] = ()


class Permuted(NamedTuple):
    """A tensor whose local rows are these granules, one after the other."""

    name: str
    granules: tuple[Granules, ...]


Member = str | Permuted


@dataclass(frozen=True, slots=True)
class Output:
    """One local tensor: its members' local parts along their output dim.

    dim: the output dim of the members.
    by: the axis whose elements interleave the members: each member's rows of the first, then of the second, and so on;
        then axes within it that members are rows of. (): one member after the other.
    slice: (index, size): this is only one slice of the output, which has `size` of them in a dim in front.
    """

    name: str
    members: tuple[Member, ...]
    dim: int = 0
    by: tuple[Axis, ...] = ()
    slice: tuple[int, int] | None = None


def name_of(member: Member) -> str:
    """The file's name of a member."""
    return member if isinstance(member, str) else member.name


def by_name(outputs: Iterable[Output]) -> dict[str, list[Output]]:
    """The outputs by name; more than one of a name are its slices."""
    found: dict[str, list[Output]] = {}
    for output in outputs:
        found.setdefault(output.name, []).append(output)
    return found


def elements(output: Output) -> int:
    """Elements on this rank by which the members are interleaved; 1 where they are not. Raises SHD230."""
    if not output.by:
        return 1
    axis, *within = output.by
    for inner in within if axis.local > 1 else ():
        group = inner.size // axis.size
        if (inner.start, inner.local) != (axis.start * group, axis.local * group):
            found = f"{inner.name} {inner.start}..{inner.stop}"
            raise ShardError(("SHD230", f"a rank with {axis.name} {axis.start}..{axis.stop} has only {found} of them"))
    return axis.local
