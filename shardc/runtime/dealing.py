"""The copies of one window, out of bytes of its file in memory, to where they stay on the same device."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import torch

from shardc.runtime.dtypes import RAW
from shardc.runtime.memory import Memory
from shardc.runtime.pieces import Piece
from shardc.runtime.strides import Block, Copy


def deal(source: Memory, origin: int, pieces: Sequence[Piece]) -> None:
    """Makes the copies. source: the file's bytes from byte `origin` on, at least those of the pieces.

    It is on the device of the pieces' memory, and aligned for elements of any dtype.
    """
    for alike in by_form(pieces):
        runs = list(runs_of(alike))
        if len(runs) > 1 and alike[0].copy.shape == (1,):
            scatter(source, origin, alike)
            continue
        for piece in runs:
            elements, first = elements_of(source, piece.begin - origin, piece.end - origin, piece)
            shape, (_, steps), target = piece.copy
            block = elements.as_strided(shape, steps, first)
            target_of(piece).as_strided(shape, target.strides, piece.start + target.offset).copy_(block)


def scatter(source: Memory, origin: int, scalars: Sequence[Piece]) -> None:
    """Makes the copies of scalars of one form, from anywhere to anywhere, as one."""
    begin, end = min(piece.begin for piece in scalars), max(piece.end for piece in scalars)
    elements, first = elements_of(source, begin - origin, end - origin, scalars[0])
    itemsize = scalars[0].dtype.itemsize
    places = torch.tensor(
        [
            [first + (piece.begin - begin) // itemsize for piece in scalars],
            [piece.start + piece.copy.target.offset for piece in scalars],
        ]
    )
    sources, targets = places.to(elements.device, non_blocking=True)
    target = target_of(scalars[0])
    target.index_copy_(0, targets, elements[sources].to(target.dtype))


def elements_of(source: Memory, at: int, end: int, piece: Piece) -> tuple[torch.Tensor, int]:
    """Elements that a piece copies, and which of them is at byte `at`; of bytes that are not aligned, a copy."""
    itemsize = piece.dtype.itemsize
    dtype = piece.dtype if piece.cast != piece.dtype else RAW[itemsize]
    if at % itemsize:
        return source.flat[at:end].clone().view(dtype), 0
    return source.typed(dtype), at // itemsize


def target_of(piece: Piece) -> torch.Tensor:
    """The memory that a piece goes to, as elements of its dtype; without a cast, as bytes of that size."""
    return piece.memory.typed(piece.cast if piece.cast != piece.dtype else RAW[piece.cast.itemsize])


def by_form(pieces: Sequence[Piece]) -> Iterable[Sequence[Piece]]:
    """The pieces of each form: of a shape, strides, dtypes, memory and alignment."""
    if len(pieces) == 1:
        return [pieces]
    alike: dict[object, list[Piece]] = defaultdict(list)
    for piece in pieces:
        shape, source, target = piece.copy
        phase = piece.begin % piece.dtype.itemsize
        alike[shape, source.strides, target.strides, piece.dtype, piece.cast, id(piece.memory), phase].append(piece)
    return alike.values()


def runs_of(alike: Sequence[Piece]) -> Iterator[Piece]:
    """The same copies, those at a constant distance on both sides as one."""
    run: list[Piece] = []
    for piece in alike:
        if run and not continues(run, piece):
            yield joined(run)
            run = []
        run.append(piece)
    yield joined(run)


def continues(run: list[Piece], piece: Piece) -> bool:
    """Whether a piece lies as far behind the last of a run as each of them behind the one before."""
    step = distance(run[-1], piece)
    return step == distance(run[0], run[1]) if len(run) > 1 else min(step) >= 0


def distance(one: Piece, other: Piece) -> tuple[int, int]:
    """How much further the other piece lies: bytes in the file, elements in memory."""
    return other.begin - one.begin, other.start + other.copy.target.offset - one.start - one.copy.target.offset


def joined(run: list[Piece]) -> Piece:
    """Pieces of one form at a constant distance, as one."""
    first = run[0]
    if len(run) == 1:
        return first
    step, to = distance(first, run[1])
    shape, source, target = first.copy
    copy = Copy(
        (len(run), *shape),
        Block(source.offset, (step // first.dtype.itemsize, *source.strides)),
        Block(target.offset, (to, *target.strides)),
    )
    return first._replace(end=run[-1].end, copy=copy)
