"""What laws of the copy engine draw: tensors of a file, what ranks keep of them, and where it goes; and an oracle."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import NamedTuple

import torch
from hypothesis import strategies as st

import shardc.runtime as rt
from shardc.runtime.buffers import Buffer
from shardc.runtime.dtypes import CASTABLE, TORCH_DTYPES
from shardc.runtime.headers import Header
from shardc.runtime.limits import LOCAL, Limits
from shardc.runtime.memory import Room, rooms_for
from shardc.runtime.moves import rows_interleaved, rows_kept, rows_turned
from shardc.runtime.pieces import pieces_of
from shardc.runtime.placing import Fill, Placing
from shardc.runtime.regions import Spans, normalise, whole_dim
from shardc.runtime.shards import Layout, Shard
from shardc.runtime.strides import Block, Copy
from shardc.runtime.windows import Window, windows_of

Draw = st.DrawFn


def pairs(copy: Copy) -> list[tuple[int, int]]:
    """(place in the source, place in the target) of every element that is copied."""
    found = []
    for at in product(*map(range, copy.shape)):
        places = [block.offset + sum(i * step for i, step in zip(at, block.strides, strict=True)) for block in copy[1:]]
        found.append((places[0], places[1]))
    return found


@st.composite
def copies(draw: Draw) -> Copy:
    """A copy of any strides; rows may overlap in the source, as those of turned rows do."""
    shape = tuple(draw(st.lists(st.integers(1, 5), max_size=4)))
    strides = [tuple(draw(st.lists(st.integers(1, 30), min_size=len(shape), max_size=len(shape)))) for _ in "st"]
    contiguous = tuple(prod(shape[dim + 1 :]) for dim in range(len(shape)))
    source, target = (draw(st.sampled_from([own, contiguous])) for own in strides)
    return Copy(shape, Block(draw(st.integers(0, 9)), source), Block(draw(st.integers(0, 9)), target))


class Drawn(NamedTuple):
    """Tensors one after the other in a file, from byte `start` on, and what each rank keeps of them."""

    file: torch.Tensor
    full: dict[str, torch.Tensor]
    headers: dict[str, Header]
    ranks: list[list[Fill]]
    rows: dict[str, list[int]]  # by buffer: where each local row goes, along the dim of its moves


@st.composite
def spans(draw: Draw, size: int, unit: int) -> Spans:
    """Regions of a dim, in order, with padding; units of rows stay together."""
    if size == 0:
        return whole_dim(0)
    cuts = sorted(draw(st.lists(st.integers(0, size // unit), max_size=4)))
    pads = st.sampled_from([0, 0, 0, 1, 2])
    regions = [
        (start * unit, stop * unit, draw(pads) * unit) for start, stop in zip(cuts[::2], cuts[1::2], strict=False)
    ]
    return normalise(regions) if regions and draw(st.booleans()) else whole_dim(size)


@st.composite
def drawn(draw: Draw, most: int = 4) -> Drawn:
    """Tensors of any dtype and shape, cut for up to three ranks, each into a tensor of its own or part of an output."""
    start = draw(st.sampled_from([0, 8, 64, 1, 3, 13]))
    full: dict[str, torch.Tensor] = {}
    headers: dict[str, Header] = {}
    ranks: list[list[Fill]] = [[] for _ in range(draw(st.integers(1, 3)))]
    rows: dict[str, list[int]] = {}
    at = start
    for number in range(draw(st.integers(1, most))):
        name, dtype = f"t{number}", draw(st.sampled_from(list(TORCH_DTYPES)))
        unit = draw(st.sampled_from([1, 1, 2, 6]))
        shape = tuple(draw(st.lists(st.integers(0, 5), max_size=3)))
        turned = draw(st.integers(0, len(shape) - 1)) if shape else None
        if turned is not None:
            shape = (*shape[:turned], shape[turned] * unit, *shape[turned + 1 :])
        tensor = values(shape, dtype)
        full[name] = tensor
        headers[name] = Header(dtype, shape, "file", at, at + tensor.nbytes)
        at += tensor.nbytes
        load = draw(st.sampled_from([None, None, *CASTABLE])) if dtype in CASTABLE else None
        for rank, fills in enumerate(ranks):
            kept = tuple(draw(spans(size, unit if dim == turned else 1)) for dim, size in enumerate(shape))
            shard = Shard(name, Layout("", "dense", dtype, (dtype,), load, shape, kept))
            placing, places = draw(placings(shard.local_shape, turned, unit))
            buffer = Buffer(f"{name}.{rank}", shard.local_dtype, placing.shape)
            rows[buffer.name] = places
            fills.append(Fill(shard, buffer, placing))
    file = torch.zeros(at, dtype=torch.uint8)
    for name, tensor in full.items():
        file[headers[name].begin : headers[name].end] = bytes_of(tensor)
    return Drawn(file, full, headers, ranks, rows)


@st.composite
def placings(draw: Draw, local: tuple[int, ...], dim: int | None, unit: int) -> tuple[Placing, list[int]]:
    """Where a local tensor goes, and the row to which each of its rows goes."""
    form = draw(st.sampled_from(["own", "element", "kept", "interleaved", "turned"]))
    if form == "element":
        return Placing((3, *local), draw(st.integers(0, 2))), []
    if dim is None or form == "own":
        return Placing(local), []
    number = local[dim]
    if form == "kept":
        moves, places, total = rows_kept(number, 2), [row + 2 for row in range(number)], number + 3
    elif form == "interleaved":
        each = number // unit * 2
        (_, moves) = rows_interleaved([each, number], number // unit) if number else ((), rows_kept(0, 0))
        places = [row // unit * (unit + 2) + 2 + row % unit for row in range(number)]
        total = number + each
    else:
        wide = 2 if unit % 2 == 0 else 1
        turn = rt.Turn((wide, unit // wide), (unit // wide, 1), (1, wide))
        moves = rows_turned((rt.Granules(number // unit, unit, (turn,)),), 1, 1)
        inner = [row % (unit // wide) * wide + row // (unit // wide) for row in range(unit)]
        places = [1 + row // unit * unit + inner[row % unit] for row in range(number)]
        total = number + 1
    return Placing((*local[:dim], total, *local[dim + 1 :]), None, dim, moves), places


def values(shape: tuple[int, ...], dtype: str) -> torch.Tensor:
    """Small whole numbers for what may be cast, and any bytes for the rest."""
    seed = torch.Generator().manual_seed(prod(shape))
    if dtype in CASTABLE:
        return torch.randint(-99, 99, shape, generator=seed).to(TORCH_DTYPES[dtype])
    found = torch.randint(
        0,
        2 if dtype == "BOOL" else 256,
        (prod(shape) * TORCH_DTYPES[dtype].itemsize,),
        dtype=torch.uint8,
        generator=seed,
    )
    return found.view(TORCH_DTYPES[dtype]).view(shape)


def bytes_of(tensor: torch.Tensor) -> torch.Tensor:
    """The bytes of a tensor, row-major."""
    return tensor.contiguous().view(-1).view(torch.uint8)


def expected(drawn: Drawn, fill: Fill, before: torch.Tensor) -> torch.Tensor:
    """What the buffer of a fill is to hold, by slices alone; `before` is what it held."""
    local = drawn.full[fill.shard.name]
    for dim, kept in enumerate(fill.shard.at):
        parts = []
        for start, stop, pad in kept:
            parts.append(local.narrow(dim, start, stop - start))
            parts.append(torch.zeros((*local.shape[:dim], pad, *local.shape[dim + 1 :])).to(local.dtype))
        local = cat(parts, dim) if parts else local.narrow(dim, 0, 0)
    local = local.to(TORCH_DTYPES[fill.buffer.dtype])
    after = before.clone()
    into = after if fill.placing.element is None else after[fill.placing.element]
    if fill.placing.dim is None:
        into.copy_(local)
    for row, place in enumerate(drawn.rows[fill.buffer.name]):
        into.select(fill.placing.dim or 0, place).copy_(local.select(fill.placing.dim or 0, row))
    return after


def cat(parts: list[torch.Tensor], dim: int) -> torch.Tensor:
    """`torch.cat`, which not every dtype has."""
    dtype, itemsize = parts[0].dtype, parts[0].itemsize
    raw = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[itemsize]
    return torch.cat([part.contiguous().view(raw) for part in parts], dim).view(dtype)


def rooms_with_noise(drawn: Drawn) -> tuple[list[dict[str, Room]], dict[str, torch.Tensor]]:
    """The rooms of each rank, which hold any bytes, and what each buffer holds."""
    rooms: list[dict[str, Room]] = []
    for fills in drawn.ranks:
        own = rooms_for([fill.buffer for fill in fills], torch.device("cpu"), separate=False)
        next(iter(own.values())).memory.flat.random_(0, 2)
        rooms.append(own)
    return rooms, {name: room.tensor().clone() for own in rooms for name, room in own.items()}


def small_windows(window: int, direct: int, gap: int) -> Limits:
    """Windows of so many bytes, of local files, a few of which are taken together."""
    return LOCAL._replace(window=window, direct=direct, gap=gap, part=max(direct // 4, 1), span=4 * window)


def windows_for(drawn: Drawn, rooms: list[dict[str, Room]], limits: Limits = LOCAL) -> list[Window]:
    """The windows of the file, for all ranks."""
    pieces = (
        piece
        for fills, own in zip(drawn.ranks, rooms, strict=True)
        for fill in fills
        for piece in pieces_of(fill, drawn.headers[fill.shard.name], own[fill.buffer.name], limits)
    )
    return windows_of(pieces, limits)
