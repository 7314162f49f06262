"""Copying shards straight into the outputs they go into: no tensor in between."""

from __future__ import annotations

import torch

from shardc.runtime.buffers import Buffer, Place
from shardc.runtime.copies import copy_shard, view
from shardc.runtime.dtypes import TORCH_DTYPES
from shardc.runtime.moves import Move, strided
from shardc.runtime.rectangles import Rectangle, copy_rectangles, zero_rectangles
from shardc.runtime.regions import pads, pieces
from shardc.runtime.shards import Shard


def keep_shard(
    shard: Shard, full: torch.Tensor, device: torch.device | str, place: Place | None, kept: dict[str, torch.Tensor]
) -> None:
    """The rank's part of a full tensor, added to `kept`: by itself, or in its place in an output."""
    if place is None:
        kept[shard.name] = copy_shard(shard, full, device)
        return
    name = place.buffer.name
    if name not in kept:
        kept[name] = allocate(place.buffer, device)
    place_shard(shard, full, place, kept[name])


def allocate(buffer: Buffer, device: torch.device | str) -> torch.Tensor:
    """An output, still to be filled; elements in front that are no tensor of the file are zero."""
    tensor = torch.empty(buffer.shape, dtype=TORCH_DTYPES[buffer.dtype], device=device)
    if buffer.filled is not None:
        tensor[buffer.filled :].zero_()
    return tensor


def place_shard(shard: Shard, full: torch.Tensor, place: Place, output: torch.Tensor) -> None:
    """The rank's part of a full tensor, and the zeros of its padding, into the output that it goes into."""
    with torch.no_grad():
        target = output if place.element is None else output[place.element]
        if place.dim is None:
            scalar = target if target.dim() == 0 else target[place.moves[0].place]
            scalar.copy_(full.reshape(()))
        else:
            place_rows(shard, full, place.dim, place.moves, target)


def place_rows(shard: Shard, full: torch.Tensor, dim: int, moves: tuple[Move, ...], target: torch.Tensor) -> None:
    """One copy for each move and each product of regions; all rows of `target` that are the shard's are written."""
    others = shard.at[:dim] + shard.at[dim + 1 :]
    for start, stop, local in pieces(shard.at[dim]):
        for move in moves:
            blocks = move.blocks(local, local + stop - start)
            for source, to in copy_rectangles(others):
                rows = file_rows(beside(full, source, dim), dim, move, blocks, start - local)
                output_rows(beside(target, to, dim), dim, move, blocks).copy_(rows)
            for zeros in zero_rectangles(others):
                output_rows(beside(target, zeros, dim), dim, move, blocks).zero_()
    for start, stop in pads(shard.at[dim]):
        for move in moves:
            output_rows(target, dim, move, move.blocks(start, stop)).zero_()


def beside(tensor: torch.Tensor, rectangle: Rectangle, dim: int) -> torch.Tensor:
    """All rows of `dim`, and a rectangle of the other dims."""
    return view(tensor, rectangle[:dim] + ((0, tensor.shape[dim]),) + rectangle[dim:])


def file_rows(full: torch.Tensor, dim: int, move: Move, blocks: range, shift: int) -> torch.Tensor:
    """Some blocks of a move, in the full tensor, whose rows are the local ones and `shift` more."""
    row = move.first + blocks.start * move.pitch + shift
    return strided(full, dim, row, (len(blocks), *move.sizes), (move.pitch, *move.strides))


def output_rows(output: torch.Tensor, dim: int, move: Move, blocks: range) -> torch.Tensor:
    """The same blocks, in the output."""
    row = move.place + blocks.start * move.to_pitch
    return strided(output, dim, row, (len(blocks), *move.sizes), (move.to_pitch, *move.to))
