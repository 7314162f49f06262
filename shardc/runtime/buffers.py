"""The outputs of one rank: the tensors to allocate, and the place of each shard in them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from shardc.runtime.choices import Stored
from shardc.runtime.cutting import Choices
from shardc.runtime.errors import Finding, ShardError
from shardc.runtime.members import mixed, part_of_choice, whole_outputs
from shardc.runtime.moves import Move, rows_interleaved, rows_kept, rows_turned
from shardc.runtime.outputs import Output, by_name, elements, name_of
from shardc.runtime.regions import local_size, normalise
from shardc.runtime.shards import Shard
from shardc.runtime.tensors import Dim, Family, Tensor, stem_of


class Buffer(NamedTuple):
    """A tensor to allocate. filled: how many elements of its first dim are tensors of the file; None: no such dim."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    filled: int | None = None


class Place(NamedTuple):
    """Where a shard goes: into the buffer, or into element `element` of its first dim.

    dim: the dim of the shard along which its rows make these moves; None for a scalar, whose value goes to the row
        that its move says, or is all there is.
    """

    buffer: Buffer
    element: int | None
    dim: int | None
    moves: tuple[Move, ...]


class Joint(NamedTuple):
    """One file tensor of a member, how it is stored, and the family of its tensor."""

    shard: Shard
    stored: Stored
    family: Family


Places = dict[str, Place]


def places_of(
    outputs: Iterable[Output], tensors: Collection[Tensor], choices: Choices, shards: Iterable[Shard]
) -> Places:
    """The place of each shard that goes into an output of which the file has all members.

    Raises SHD401 and SHD420 as `whole_outputs` does, or SHD105, SHD212, SHD230 and SHD420, all together.
    """
    whole = whole_outputs(outputs, tensors, choices)
    if not whole:
        return {}
    families = {tensor.name: tensor.family for tensor in tensors}
    kept = {shard.name: shard for shard in shards}
    places: Places = {}
    findings: list[Finding] = []
    for name, slices in by_name(whole).items():
        first = choices[name_of(slices[0].members[0])]
        for stored in first.stored if first else ():
            part = stored.part.named(stem_of(name)) if stored.part else name
            members = [joints_of(output, stored, families, choices, kept) for output in slices]
            several = list(mixed(part, {one.shard.name: one.shard.local_dtype for joints in members for one in joints}))
            findings += several
            try:
                for output, joints in zip(slices, members, strict=True) if not several else ():
                    places |= part_places(part, output, joints, len(slices))
            except ShardError as error:
                findings += [(code, f"{part}: {text}") for code, text in error.findings]
    built = {place.buffer.name for place in places.values()}
    findings += [
        ("SHD105", f"{name} is the name of an output and of a tensor beside it")
        for name in sorted(built & (kept.keys() - places.keys()))
    ]
    if findings:
        raise ShardError(*findings)
    return places


def joints_of(
    output: Output, stored: Stored, families: Mapping[str, Family], choices: Choices, shards: Mapping[str, Shard]
) -> list[Joint]:
    """The members' file tensors that are the same part as `stored`."""
    joints = []
    for name in map(name_of, output.members):
        choice = choices[name]
        own = part_of_choice(choice, stored.part) if choice else None
        if own:
            joints.append(Joint(shards[own.name], own, families[name]))
    return joints


def part_places(name: str, output: Output, joints: list[Joint], slices: int) -> Places:
    """The places of one part of an output, or of one slice of it. Raises SHD212 and SHD230."""
    dim = out_dim(output, joints)
    if dim is None:
        shape: tuple[int, ...] = (len(joints),) if len(joints) > 1 else ()
        moves = [rows_kept(1, row) for row in range(len(joints))]
    else:
        first = joints[0].shard.local_shape
        for joint in joints:
            local = joint.shard.local_shape
            if local[:dim] + local[dim + 1 :] != first[:dim] + first[dim + 1 :]:
                two = f"{joints[0].shard.name} {list(first)} and {joint.shard.name} {list(local)}"
                raise ShardError(("SHD230", f"{two} do not fit together along dim {dim}"))
        rows = [joint.shard.local_shape[dim] for joint in joints]
        shape = (*first[:dim], sum(rows), *first[dim + 1 :])
        moves = moves_of(output, joints, rows)
    element, size = output.slice or (None, 0)
    buffer = Buffer(name, joints[0].shard.local_dtype, shape)
    if element is not None:
        buffer = Buffer(name, buffer.dtype, (size, *shape), slices)
    return {joint.shard.name: Place(buffer, element, dim, own) for joint, own in zip(joints, moves, strict=True)}


def out_dim(output: Output, joints: list[Joint]) -> int | None:
    """The output dim of a part; None for a scalar. Raises SHD230 for a part without one."""
    shard, stored, family = joints[0]
    if stored.part is None:
        return output.dim if family.shape else None
    if not stored.part.dims:
        return None
    for i, follows in enumerate(stored.part.dims):
        if follows.role == "out":
            return family.leading + i
    raise ShardError(("SHD230", f"{shard.name} has no output dim to put it together along"))


def moves_of(output: Output, joints: list[Joint], rows: list[int]) -> list[tuple[Move, ...]]:
    """The moves of each member; `rows` are their local rows. Raises SHD212 and SHD230."""
    weight_rows = [local_rows(joint.family, output.dim) for joint in joints]
    part = joints[0].stored.part
    follows = next((dim for dim in part.dims if dim.role == "out"), Dim("out")) if part else Dim("out")
    unit, words = int(follows.unit), int(follows.entries)
    number = elements(output)
    if number > 1:
        for count in weight_rows:
            each = count // number
            if each % unit:
                raise ShardError(("SHD212", f"rows are interleaved {each} at a time, inside a unit of {unit}"))
        return rows_interleaved(rows, number)
    moves: list[tuple[Move, ...]] = []
    place = 0
    for member, count, weight in zip(output.members, rows, weight_rows, strict=True):
        if isinstance(member, str):
            moves.append(rows_kept(count, place))
        else:
            if words != 1:
                raise ShardError(("SHD212", f"rows are permuted, and {unit} of them are {words} packed words"))
            turned = sum(granules.number * granules.size for granules in member.granules)
            if turned != weight:
                raise ShardError(("SHD230", f"{turned} rows of {member.name} are permuted, and a rank has {weight}"))
            moves.append(rows_turned(member.granules, unit, place))
        place += count
    return moves


def local_rows(family: Family, dim: int) -> int:
    """Rows that a rank keeps of a dim of a tensor, unpacked."""
    return local_size(normalise(family.at[dim])) if dim in family.at else family.shape[dim]
