"""Where a rank's local tensors lie in memory, and what is written there without being read."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from shardc.runtime.buffers import Buffer
from shardc.runtime.dtypes import TORCH_DTYPES
from shardc.runtime.memory import Room, rooms_for
from shardc.runtime.placing import filling_of
from shardc.runtime.preparing import RankPart

Rooms = Mapping[str, Room]


def rooms_of(part: RankPart, device: torch.device, *, separate: bool) -> Rooms:
    """A room for each tensor that a rank gets, in the order in which the files have the first byte of each."""
    buffers: dict[str, Buffer] = {}
    for fill in sorted(part.fills, key=lambda fill: part.headers[fill.shard.name][2:4]):
        buffers.setdefault(fill.buffer.name, fill.buffer)
    return rooms_for(buffers.values(), device, separate=separate)


def write_unread(part: RankPart, rooms: Rooms) -> None:
    """Writes what is not in the file: zeros where padding is, and the values of parts that hold sizes."""
    for room in rooms.values():
        if room.buffer.filled is not None:
            room.tensor()[room.buffer.filled :].zero_()
    for (_, layout), buffer, placing in part.fills:
        if layout.values is not None:
            rooms[buffer.name].tensor().copy_(torch.tensor(layout.values))
            continue
        for shape, target in filling_of(layout, placing).zeros:
            room, dtype = rooms[buffer.name], TORCH_DTYPES[buffer.dtype]
            offset = room.offset // dtype.itemsize + target.offset
            room.memory.typed(dtype).as_strided(shape, target.strides, offset).zero_()


def tensors_of(part: RankPart, rooms: Rooms) -> dict[str, torch.Tensor]:
    """The local tensors by name, in the spec's order, and those that are tied to them."""
    names = dict.fromkeys(fill.buffer.name for fill in part.fills)
    tensors = {name: rooms[name].tensor() for name in names}
    return tensors | {name: tensors[twin] for name, twin in part.twins.items()}
