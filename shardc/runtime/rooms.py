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
    """A room for each tensor that a rank gets, in the spec's order. They lie in the order of the files' bytes."""
    buffers: dict[str, Buffer] = {}
    for fill in sorted(part.fills, key=lambda fill: part.headers[fill.shard.name][2:4]):
        buffers.setdefault(fill.buffer.name, fill.buffer)
    rooms = rooms_for(buffers.values(), device, separate=separate)
    return {fill.buffer.name: rooms[fill.buffer.name] for fill in part.fills}


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


def tensors_of(rooms: Rooms, twins: Mapping[str, str]) -> dict[str, torch.Tensor]:
    """The local tensors by name, and those that are tied to them."""
    tensors = {name: room.tensor() for name, room in rooms.items()}
    return tensors | {name: tensors[twin] for name, twin in twins.items()}
