"""Regions as formulas: what `shardc.layout.regions` computes for one rank, written down for any rank."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from shardc.layout.expr import Expr, Num
from shardc.layout.terms import ZERO, add, mul


class Piece(Struct, frozen=True):
    """One region: rows [start, stop) of the file's dim, then `pad` rows of zero."""

    start: Expr
    stop: Expr
    pad: Expr = ZERO

    def moved(self, offset: Expr) -> Piece:
        if (self.start, self.stop) == (ZERO, ZERO):
            return self
        return replace(self, start=add(offset, self.start), stop=add(offset, self.stop))

    def scaled(self, step: Expr) -> Piece:
        return Piece(mul(self.start, step), mul(self.stop, step), mul(self.pad, step))


class Repeat(Struct, frozen=True):
    """The pieces, once for each `index` in start .. stop-1."""

    index: str
    start: Expr
    stop: Expr
    pieces: tuple[Pieces, ...]

    def moved(self, offset: Expr) -> Repeat:
        return replace(self, pieces=tuple(piece.moved(offset) for piece in self.pieces))

    def scaled(self, step: Expr) -> Repeat:
        return replace(self, pieces=tuple(piece.scaled(step) for piece in self.pieces))


class EachRun(Struct, frozen=True):
    """The pieces, once for each run [start, stop) that a rank keeps of an axis which is dealt round robin."""

    axis: str
    start: str
    stop: str
    pieces: tuple[Pieces, ...]

    def moved(self, offset: Expr) -> EachRun:
        return replace(self, pieces=tuple(piece.moved(offset) for piece in self.pieces))

    def scaled(self, step: Expr) -> EachRun:
        return replace(self, pieces=tuple(piece.scaled(step) for piece in self.pieces))


Pieces: TypeAlias = Piece | Repeat | EachRun
Indices: TypeAlias = Mapping[str, str]


def depth(piece: Pieces) -> int:
    """How many loops stand in each other."""
    return 0 if isinstance(piece, Piece) else 1 + max(map(depth, piece.pieces), default=0)


def total(parts: list[Expr]) -> Expr:
    """The sum of formulas; equal ones in a row are counted, so `k | k | v` is `2 * k + v`."""
    out: Expr = ZERO
    for part, equal in groupby(parts):
        out = add(out, mul(Num(len(list(equal))), part))
    return out
