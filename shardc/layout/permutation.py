"""Rows that change places inside a granule, written as two layouts of the same factors.

`heads * 2 * half` and `heads * half * 2` have the factors 2 and half in another order behind the same axis: in each
head, row (i, j) moves from i * half + j to j * 2 + i. No axis moves, so a rank can do it to its own rows.
"""

from __future__ import annotations

from collections.abc import Set

from msgspec import Struct

from shardc.layout.errors import FormulaError
from shardc.layout.expr import Binary, Cat, Expr, names
from shardc.layout.show import show
from shardc.layout.terms import ONE, ZERO, add, mul

#: Terms of one granule: `(a | b) * (c | d)` has four.
MAX_TERMS = 64
_HELP = "an axis and all that stands before it is the same in both; behind it, the same factors in another order"


class Turn(Struct, frozen=True):
    """Row (i, j, …) of `sizes` lies at start + i * strides[0] + … of the file's granule, and at place + i * to[0] + …
    of the output's.
    """

    sizes: tuple[Expr, ...]
    strides: tuple[Expr, ...]
    to: tuple[Expr, ...]
    start: Expr
    place: Expr


class Run(Struct, frozen=True):
    """So many granules of `size` rows as the layout `count` has; each is turned alike. No turns: rows stay in place."""

    count: Expr
    size: Expr
    turns: tuple[Turn, ...] = ()


def permutation(origin: Expr, to: Expr, axes: Set[str]) -> tuple[Run, ...]:
    """The runs of a dim, one after the other. FormulaError (SHD230) where the two layouts do not say one.

    Lets have to be written out; `axes` has the names of axes.
    """
    if origin == to:
        raise FormulaError("SHD230", f"`from` and `to` are both `{show(to)}`: no row changes its place", to.at)
    return tuple(_runs(origin, to, axes))


def factors(expr: Expr) -> list[Expr]:
    """What a layout is a product of, outermost first; the layout itself where it is none."""
    if isinstance(expr, Binary) and expr.op == "*":
        return [*factors(expr.left), *factors(expr.right)]
    return [expr]


def _runs(origin: Expr, to: Expr, axes: Set[str]) -> list[Run]:
    if origin == to:
        return [Run(origin, ONE)]
    if isinstance(origin, Cat) and isinstance(to, Cat) and names(origin) & axes and len(origin.parts) == len(to.parts):
        return [run for parts in zip(origin.parts, to.parts, strict=True) for run in _runs(*parts, axes)]
    before, after = factors(origin), factors(to)
    fixed = max((i + 1 for i, factor in enumerate(before) if names(factor) & axes), default=0)
    if before[:fixed] != after[:fixed] or any(names(factor) & axes for factor in after[fixed:]):
        message = f"`{show(origin)}` and `{show(to)}` differ at an axis or before it: rows of several ranks would move"
        raise FormulaError("SHD230", message, to.at, _HELP)
    granule = _product(before[fixed:])
    return [Run(_product(before[:fixed]), granule, tuple(_turns(granule, _product(after[fixed:]), to)))]


def _turns(granule: Expr, turned: Expr, to: Expr) -> list[Turn]:
    places = {frozenset(term.sizes): term for term in _terms(turned, to)}
    out = []
    for term in _terms(granule, to):
        place = places.pop(frozenset(term.sizes), None)
        if place is None:
            raise _different(granule, turned, to)
        strides = dict(zip(place.sizes, place.strides, strict=True))
        turn = Turn(term.sizes, term.strides, tuple(strides[size] for size in term.sizes), term.start, place.start)
        out.append(turn)
    if places:
        raise _different(granule, turned, to)
    return out


class _Term(Struct, frozen=True):
    """Rows that belong to one way through the segments of a granule."""

    sizes: tuple[Expr, ...]
    strides: tuple[Expr, ...]
    start: Expr


def _terms(granule: Expr, to: Expr) -> list[_Term]:
    """The terms of a granule, which have to be told apart by their factors as they are written."""
    if _count(granule) > MAX_TERMS:
        raise FormulaError("SHD005", f"`{show(granule)}` has over {MAX_TERMS} terms", to.at)
    terms = _spread(granule)
    for term in terms:
        if len(set(term.sizes)) < len(term.sizes):
            twice = next(size for size in term.sizes if term.sizes.count(size) > 1)
            message = f"`{show(granule)}` has the factor `{show(twice)}` twice: which is which in `{show(to)}`?"
            raise FormulaError("SHD230", message, to.at, "write one of them in another way")
    if len({frozenset(term.sizes) for term in terms}) < len(terms):
        message = f"`{show(granule)}` has two segments of the same factors: which is which in `{show(to)}`?"
        raise FormulaError("SHD230", message, to.at, "write one of them in another way")
    return terms


def _count(expr: Expr) -> int:
    match expr:
        case Cat(parts):
            return sum(map(_count, parts))
        case Binary("*", left, right):
            return _count(left) * _count(right)
    return 1


def _spread(expr: Expr) -> list[_Term]:
    match expr:
        case Cat(parts):
            out: list[_Term] = []
            begin: Expr = ZERO
            for part in parts:
                out += [_Term(term.sizes, term.strides, add(begin, term.start)) for term in _spread(part)]
                begin = add(begin, _rows(part))
            return out
        case Binary("*", left, right):
            step = _rows(right)
            return [
                _Term(
                    outer.sizes + inner.sizes,
                    tuple(mul(stride, step) for stride in outer.strides) + inner.strides,
                    add(mul(outer.start, step), inner.start),
                )
                for outer in _spread(left)
                for inner in _spread(right)
            ]
    return [_Term((expr,), (ONE,), ZERO)]


def _different(granule: Expr, turned: Expr, to: Expr) -> FormulaError:
    message = f"`{show(granule)}` and `{show(turned)}` are not made of the same factors"
    return FormulaError("SHD230", message, to.at, "write each factor alike in `from` and `to`, in another order")


def _rows(expr: Expr) -> Expr:
    """The size of a layout without axes, as a formula on plain numbers."""
    match expr:
        case Cat(parts):
            total: Expr = ZERO
            for part in parts:
                total = add(total, _rows(part))
            return total
        case Binary("*", left, right):
            return mul(_rows(left), _rows(right))
    return expr


def _product(parts: list[Expr]) -> Expr:
    out: Expr = ONE
    for part in parts:
        out = mul(out, part)
    return out
