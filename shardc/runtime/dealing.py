"""The copies of one window, out of its bytes into host memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

import torch

from shardc.runtime.strides import Block, Copy
from shardc.runtime.windows import Piece

RAW: dict[int, torch.dtype] = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def deal(window: torch.Tensor, begin: int, pieces: Iterable[Piece]) -> None:
    """Makes the copies. window: the file's bytes from byte `begin` on, U8, on the device of the pieces' memory."""
    for piece in batched(pieces):
        source = source_of(window, piece.begin - begin, piece)
        target = piece.memory.typed(piece.cast if piece.cast != piece.dtype else RAW[piece.cast.itemsize])
        copy = piece.copy
        target.as_strided(copy.shape, copy.target.strides, piece.start + copy.target.offset).copy_(source)


def source_of(window: torch.Tensor, at: int, piece: Piece) -> torch.Tensor:
    """What a piece copies, as a view of the window from byte `at` on; of bytes that are not aligned, of a copy."""
    itemsize = piece.dtype.itemsize
    bytes_ = window[at : at + piece.end - piece.begin]
    if bytes_.data_ptr() % itemsize:
        bytes_ = bytes_.clone()
    elements = bytes_.view(piece.dtype if piece.cast != piece.dtype else RAW[itemsize])
    return elements.as_strided(piece.copy.shape, piece.copy.source.strides, elements.storage_offset())


def batched(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The same copies, those of one form at a constant distance on both sides as one."""
    alike: dict[object, list[Piece]] = defaultdict(list)
    for piece in pieces:
        copy = piece.copy
        strides = (copy.source.strides, copy.target.strides)
        phase = piece.begin % piece.dtype.itemsize
        alike[copy.shape, strides, piece.dtype, piece.cast, id(piece.memory), phase].append(piece)
    for group in alike.values():
        run: list[Piece] = []
        for piece in group:
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
