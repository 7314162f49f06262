"""A file in windows: what is read of it at once, and the copies that are made of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple

from shardc.runtime.limits import Limits
from shardc.runtime.pieces import Piece


class Window(NamedTuple):
    """Bytes begin .. end of a file, and what is copied of them. direct: a read right to where they stay does it."""

    begin: int
    end: int
    pieces: tuple[Piece, ...]
    direct: bool

    @property
    def nbytes(self) -> int:
        """Bytes that it fills in memory."""
        return sum(piece.nbytes for piece in self.pieces)


def windows_of(pieces: Iterable[Piece], limits: Limits) -> list[Window]:
    """The windows of one file, in the order of their bytes. Pieces that share bytes are in one window.

    Small pieces that lie near each other are too.
    """
    windows: list[Window] = []
    together: list[Piece] = []
    end = gaps = 0
    for piece in sorted(pieces, key=itemgetter(0, 1)):
        gaps += max(piece.begin - end, 0)
        if together and not joins(together, end, gaps, piece, limits):
            windows.append(window_of(together, end, limits))
            together = []
        if not together:
            end = gaps = 0
        end = max(end, piece.end)
        together.append(piece)
    if together:
        windows.append(window_of(together, end, limits))
    return in_one_read(windows, limits)


def window_of(pieces: Sequence[Piece], end: int, limits: Limits) -> Window:
    """The window of some pieces, in their order, up to byte `end`."""
    begin = pieces[0].begin
    return Window(begin, end, tuple(pieces), is_read(pieces, end - begin, limits))


def is_read(pieces: Sequence[Piece], length: int, limits: Limits) -> bool:
    """Whether the copies are a read: of whole runs of bytes that follow one another, and neither many nor tiny."""
    if len(pieces) > limits.parts or length < limits.part * len(pieces):
        return False
    return all(piece.plain for piece in pieces) and all(one.end == other.begin for one, other in pairwise(pieces))


def in_one_read(windows: Iterable[Window], limits: Limits) -> list[Window]:
    """The same windows, those that are reads and follow one another as one: of several ranks, each gets its part."""
    found: list[Window] = []
    for window in windows:
        if found and reads_on(found[-1], window, limits):
            before = found.pop()
            window = Window(before.begin, window.end, (*before.pieces, *window.pieces), direct=True)
        found.append(window)
    return found


def reads_on(one: Window, other: Window, limits: Limits) -> bool:
    """Whether two windows are reads of which the other begins where the one ends, and are within the limits as one."""
    if not (one.direct and other.direct and one.end == other.begin):
        return False
    return other.end - one.begin <= limits.window and len(one.pieces) + len(other.pieces) <= limits.parts


def joins(together: list[Piece], end: int, gaps: int, piece: Piece, limits: Limits) -> bool:
    """Whether the next piece of a file goes with those before it, which end at byte `end`.

    gaps: bytes of the window that no piece would have.
    """
    length = max(end, piece.end) - together[0].begin
    if piece.begin < end:
        return length <= 2 * limits.window
    near = piece.begin - end <= limits.gap and gaps <= max(limits.spare, length - gaps)
    return near and length <= limits.window and not is_large(piece, limits) and not is_large(together[-1], limits)


def is_large(piece: Piece, limits: Limits) -> bool:
    """Whether a piece is worth a read of its own."""
    return piece.plain and piece.end - piece.begin >= limits.direct


def taken_together(windows: list[Window], limits: Limits) -> Iterator[list[Window]]:
    """The windows of one file as threads take them: as many as lie within `span`, one at least.

    They are taken out of the list: what has been read is not kept.
    """
    windows.reverse()
    while windows:
        together = [windows.pop()]
        while windows and windows[-1].end - together[0].begin <= limits.span:
            together.append(windows.pop())
        yield together
