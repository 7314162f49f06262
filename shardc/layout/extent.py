"""How large a formula is once its names are replaced, worked out before it is: a spec is not trusted to be small."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from shardc.layout.errors import FormulaError
from shardc.layout.expr import Expr, Name, children

MAX_PARTS = 500
MAX_DEPTH = 64


class Extent(Struct, frozen=True):
    """`parts` nodes in all, of which at most `depth` stand in each other."""

    parts: int
    depth: int


def extent(expr: Expr, replaced: Mapping[str, Extent] | None = None) -> Extent:
    """The extent of `expr` with each name in `replaced` taken to be as large as is said there."""
    if isinstance(expr, Name) and replaced and expr.id in replaced:
        return replaced[expr.id]
    parts = [extent(child, replaced) for child in children(expr)]
    return Extent(1 + sum(part.parts for part in parts), 1 + max((part.depth for part in parts), default=0))


def check_extent(found: Extent) -> None:
    """FormulaError (SHD005) where a formula is larger than it may become."""
    if found.parts > MAX_PARTS:
        message = f"with its names written out the formula has {found.parts} parts; at most {MAX_PARTS} are allowed"
        raise FormulaError("SHD005", message, help="use config symbols for what is a plain number")
    if found.depth > MAX_DEPTH:
        message = f"with its names written out the formula is nested {found.depth} deep; at most {MAX_DEPTH} is allowed"
        raise FormulaError("SHD005", message, help="use config symbols for what is a plain number")
