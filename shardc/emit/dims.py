"""A dim as code: its full size, and the regions that one rank keeps, written out as start and stop."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from shardc.emit.brackets import Code, flat, generated, prefixed, tuple_of
from shardc.emit.pieces import EachRun, Indices, Piece, Pieces, Repeat, depth, total
from shardc.emit.python import code, identifier
from shardc.layout.expr import Binary, Cat, Expr, Least, Local, Name, Per, replace_nodes, substitute, walk
from shardc.layout.terms import ZERO, add, mul
from shardc.plan.kinds import axes_in
from shardc.plan.region_limit import is_round_robin
from shardc.plan.resolved import Axis


class Dims(Struct, frozen=True):
    """Writes dims, given the axes in scope, and the lets that have variables of their own.

    A let has a variable of its own that holds its full size.
    """

    axes: Mapping[str, Axis]
    lets: Mapping[str, Expr]

    def size(self, expr: Expr) -> str:
        """The full size, as a Python expression."""
        return self.code(self.full(expr))

    def code(self, expr: Expr) -> str:
        """A formula on names of the spec and on Python names (those with a dot, and indices) as Python."""
        return code(expr, lambda name: name if "." in name else identifier(name))

    def is_split(self, expr: Expr) -> bool:
        return bool(axes_in(substitute(expr, self.lets), self.axes))

    def regions(self, expr: Expr) -> Code | None:
        """The rank's regions as a tuple of (start, stop) or (start, stop, pad); None where the dim is whole."""
        if not self.is_split(expr):
            return None
        return tuple_of([self._written(piece) for piece in self.pieces(expr, {})])

    def full(self, expr: Expr) -> Expr:
        """The full size as a formula: axes by `.size`, segments added up; lets stay names."""
        return self._measured(expr, "size")

    def local(self, expr: Expr) -> Expr:
        """The size on the rank as a formula: axes by `.local`."""
        return self._measured(substitute(expr, self.lets), "local")

    def _measured(self, expr: Expr, what: str) -> Expr:
        match expr:
            case Local(layout) if any(isinstance(node, Per) for node in walk(substitute(layout, self.lets))):
                return Name(f"rt.local_size(rt.normalise({flat(self.regions(layout) or '()')}))")
            case Local(layout):
                return self.local(layout)
            case Name(id) if id in self.axes:
                return Name(f"{identifier(id)}.{what}")
            case Per(child, parent):
                return _group(child, parent)
            case Cat(parts):
                return total([self._measured(part, what) for part in parts])
            case Binary(op, left, right):
                return Binary(op, self._measured(left, what), self._measured(right, what))
            case Least(fn, args):
                return Least(fn, tuple(self._measured(arg, what) for arg in args))
        return expr

    def pieces(self, expr: Expr, current: Indices, loops: int = 0) -> list[Pieces]:
        """The regions of a layout in the order in which the rank keeps them, inside so many loops.

        `current` gives the index of each axis that is being laid out.
        """
        match expr:
            case Name(id) if id in self.axes:
                axis = identifier(id)
                if is_round_robin(id, self.axes):
                    start, stop = _run(loops)
                    return [EachRun(axis, start, stop, (Piece(Name(start), Name(stop)),))]
                pad = Name(f"{axis}.pad") if can_pad(id, self.axes) else ZERO
                return [Piece(Name(f"{axis}.start"), Name(f"{axis}.stop"), pad)]
            case Name(id) if id in self.lets and self.is_split(expr):
                return self.pieces(self.lets[id], current, loops)
            case Per(child, parent):
                group = f"rt.per({identifier(child)}, {identifier(parent)}, {current[parent]})"
                return [Piece(Name(f"{group}[0]"), Name(f"{group}[1]"))]
            case Cat(parts):
                return self._concatenated(parts, current, loops)
            case Binary("*", left, right) if self.is_split(right):
                return self._repeated(left, right, current, loops)
            case Binary("*", left, right) if self.is_split(left):
                return [piece.scaled(self.full(right)) for piece in self.pieces(left, current, loops)]
        return [Piece(ZERO, self.full(expr))]

    def _concatenated(self, parts: tuple[Expr, ...], current: Indices, loops: int) -> list[Pieces]:
        out: list[Pieces] = []
        offset: Expr = ZERO
        for part in parts:
            out += [piece.moved(offset) for piece in self.pieces(part, current, loops)]
            offset = add(offset, self.full(part))
        return out

    def _repeated(self, outer: Expr, inner: Expr, current: Indices, loops: int) -> list[Pieces]:
        """`outer * inner` with an axis in `inner`: inner's pieces for each index of outer, then its padding."""
        around = self.pieces(outer, current, loops)
        loops += max(map(depth, around))
        index = _index(loops)
        here = {**current, outer.id: index} if isinstance(outer, Name) else current
        inside = tuple(piece.moved(mul(Name(index), self.full(inner))) for piece in self.pieces(inner, here, loops + 1))

        zeros = self._zeros(substitute(inner, self.lets))

        def filled(piece: Pieces) -> list[Pieces]:
            if not isinstance(piece, Piece):
                return [replace(piece, pieces=tuple(part for each in piece.pieces for part in filled(each)))]
            padding = [Piece(ZERO, ZERO, mul(piece.pad, zeros))] if piece.pad != ZERO else []
            return [Repeat(index, piece.start, piece.stop, inside), *padding]

        return [part for piece in around for part in filled(piece)]

    def _zeros(self, inner: Expr) -> Expr:
        """The local size of `inner` for one element of padding: its groups are whole."""
        groups: dict[Expr, Expr] = {n: _group(n.child, n.parent) for n in walk(inner) if isinstance(n, Per)}
        return self.local(replace_nodes(inner, groups))

    def _written(self, piece: Pieces) -> Code:
        if isinstance(piece, Piece):
            ends = [piece.start, piece.stop] + ([piece.pad] if piece.pad != ZERO else [])
            return tuple_of([self.code(end) for end in ends])
        inside = [self._written(part) for part in piece.pieces]
        if isinstance(piece, EachRun):
            each = f"for {piece.start}, {piece.stop} in {piece.axis}.runs"
            if piece.pieces == (Piece(Name(piece.start), Name(piece.stop)),):
                return f"*{piece.axis}.runs"
        else:
            each = f"for {piece.index} in range({self.code(piece.start)}, {self.code(piece.stop)})"
        if len(inside) == 1 and not flat(inside[0]).startswith("*"):
            return generated(inside[0], each)
        return generated("region", each, prefixed("for region in ", tuple_of(inside)))


def _group(child: str, parent: str) -> Expr:
    """Elements of the child for each element of its parent."""
    return Binary("//", Name(f"{identifier(child)}.size"), Name(f"{identifier(parent)}.size"))


def _index(depth: int) -> str:
    """The variable of a loop inside `depth` others; no name of a spec ends in `_`."""
    return f"{'ijk'[depth]}_" if depth < 3 else f"i{depth}_"


def _run(depth: int) -> tuple[str, str]:
    """The variables of a run inside `depth` loops."""
    return (f"start{depth or ''}_", f"stop{depth or ''}_")


def can_pad(axis: str, axes: Mapping[str, Axis]) -> bool:
    """Whether a rank's share of the axis can end in padding."""
    declared = axes[axis]
    if declared.within is not None:
        return can_pad(declared.within, axes)
    return declared.how.pad_to is not None or declared.how.pad_local_to is not None or declared.how.if_uneven == "ceil"
