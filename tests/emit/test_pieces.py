"""Sums that stay short, and regions that are moved and scaled."""

from __future__ import annotations

from shardc.emit.pieces import EachRun, Piece, Repeat, depth, total
from shardc.layout.expr import Name, Num
from shardc.layout.parse import parse
from shardc.layout.terms import ZERO

A, B = Name("a"), Name("b")


def test_equal_summands_in_a_row_are_counted() -> None:
    assert total([]) == ZERO
    assert total([A, A, B]) == parse("2 * a + b")
    assert total([A, B, A]) == parse("a + b + a")


def test_a_piece_moves_and_scales() -> None:
    piece = Piece(A, B, Num(3))
    assert piece.moved(Num(5)) == Piece(parse("5 + a"), parse("5 + b"), Num(3))
    assert piece.scaled(Num(4)) == Piece(parse("a * 4"), parse("b * 4"), parse("3 * 4"))


def test_padding_alone_stays_where_it_is() -> None:
    assert Piece(ZERO, ZERO, A).moved(Num(5)) == Piece(ZERO, ZERO, A)


def test_a_repeat_moves_and_scales_what_is_in_it() -> None:
    repeat = Repeat("i_", ZERO, B, (Piece(ZERO, A),))
    assert repeat.moved(Num(5)) == Repeat("i_", ZERO, B, (Piece(Num(5), parse("5 + a")),))
    assert repeat.scaled(Num(4)) == Repeat("i_", ZERO, B, (Piece(ZERO, parse("a * 4")),))


def test_each_run_moves_and_scales_what_is_in_it() -> None:
    runs = EachRun("experts", "start_", "stop_", (Piece(A, B),))
    assert runs.moved(Num(5)) == EachRun("experts", "start_", "stop_", (Piece(parse("5 + a"), parse("5 + b")),))
    assert runs.scaled(Num(4)) == EachRun("experts", "start_", "stop_", (Piece(parse("a * 4"), parse("b * 4")),))


def test_depth() -> None:
    inner = Repeat("j_", ZERO, B, (Piece(ZERO, A),))
    assert depth(Piece(ZERO, A)) == 0
    assert depth(inner) == 1
    assert depth(Repeat("i_", ZERO, B, (Piece(ZERO, A), inner))) == 2
    assert depth(EachRun("experts", "start_", "stop_", (Piece(ZERO, A), inner))) == 2
