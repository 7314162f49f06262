"""Which rows of a dim one rank keeps.

A dim's formula is its storage order. `regions` walks it once:
a number n is (0, n); an axis is the rank's share; `a | b` concatenates, shifted by running size;
`a * b` scales a's regions by the size of b where no axis occurs in b, and otherwise lays b's regions out anew for each
of a's indices. Regions that touch merge.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from shardc.layout.errors import FormulaError
from shardc.layout.evaluate import LIMIT, number
from shardc.layout.expr import Binary, Cat, Expr, Local, Name, Num, Per, replace_nodes, walk
from shardc.layout.show import show
from shardc.layout.split import Split

#: (start, stop, pad): rows [start, stop) of the file's dim, then `pad` rows of zero.
Region = tuple[int, int, int]
Regions = tuple[Region, ...]

MAX_REGIONS = 10_000


class Scope(Struct, frozen=True):
    """What the names of a layout mean: plain values, and axes with their splits; `rank` gives a rank on each mesh dim.

    `current` holds, inside a product, the index of the axis that is being laid out (for `per`); None in its zero fill.
    """

    values: Mapping[str, object]
    splits: Mapping[str, Split]
    rank: Mapping[str, int] = field(default_factory=dict)
    current: Mapping[str, int | None] = field(default_factory=dict)

    def at(self, axis: str, index: int | None) -> Scope:
        return Scope(self.values, self.splits, self.rank, {**self.current, axis: index})


def size(expr: Expr, scope: Scope) -> int:
    """The full size of a dim, in elements of the file's tensor."""
    match expr:
        case Name(id) if id in scope.splits:
            return scope.splits[id].size
        case Per(child, parent):
            return _group(child, parent, scope, expr)
        case Cat(parts):
            return _bounded(sum(size(part, scope) for part in parts), expr)
        case Binary("*", left, right):
            return _bounded(size(left, scope) * size(right, scope), expr)
    return measure(expr, scope)


def measure(expr: Expr, scope: Scope) -> int:
    """A plain number in which `local(layout)` stands for the layout's size on the scope's rank."""
    sizes: dict[Expr, Expr] = {
        node: Num(local_size(regions(node.layout, scope))) for node in walk(expr) if isinstance(node, Local)
    }
    return number(replace_nodes(expr, sizes) if sizes else expr, scope.values)


def regions(expr: Expr, scope: Scope) -> Regions:
    """The rows of a dim that the scope's rank keeps, in the order it keeps them, merged."""
    return merge(_regions(expr, scope))


def local_size(regions: Regions) -> int:
    """How long the dim is on the rank, padding included."""
    return sum(stop - start + pad for start, stop, pad in regions)


def merge(parts: list[Region]) -> Regions:
    """The same rows with neighbours joined and no empty region left; its padding goes to the one before."""
    out: list[Region] = []
    for start, stop, pad in parts:
        if start == stop:
            if pad and out:
                before = out[-1]
                out[-1] = (before[0], before[1], before[2] + pad)
            elif pad:
                out.append((0, 0, pad))
        elif out and out[-1][1] == start and out[-1][2] == 0:
            out[-1] = (out[-1][0], stop, pad)
        else:
            out.append((start, stop, pad))
    return tuple(out)


def _regions(expr: Expr, scope: Scope) -> list[Region]:
    match expr:
        case Name(id) if id in scope.splits:
            share = scope.splits[id].share(scope.rank)
            if share.run_count > MAX_REGIONS:
                raise _too_many(expr)
            return list(share.with_padding)
        case Per(child, parent):
            return [_part_of_group(child, parent, scope, expr)]
        case Cat(parts):
            return _concatenated(parts, scope)
        case Binary("*", left, right) if has_axis(right, scope):
            return _repeated(left, right, scope)
        case Binary("*", left, right) if has_axis(left, scope):
            step = size(right, scope)
            return [(a * step, b * step, pad * step) for a, b, pad in _regions(left, scope)]
    return [(0, size(expr, scope), 0)]


def has_axis(expr: Expr, scope: Scope) -> bool:
    """Whether an axis takes part in the layout `expr` (an axis inside `local(…)` is a number already)."""
    match expr:
        case Name(id):
            return id in scope.splits
        case Per():
            return True
        case Cat(parts):
            return any(has_axis(part, scope) for part in parts)
        case Binary(_, left, right):
            return has_axis(left, scope) or has_axis(right, scope)
    return False


def _concatenated(parts: tuple[Expr, ...], scope: Scope) -> list[Region]:
    out: list[Region] = []
    offset = 0
    for part in parts:
        out += [(a + offset, b + offset, pad) for a, b, pad in _regions(part, scope)]
        if len(out) > MAX_REGIONS:
            raise _too_many(part)
        offset += size(part, scope)
    return out


def _repeated(outer: Expr, inner: Expr, scope: Scope) -> list[Region]:
    """`outer * inner` with an axis in `inner`: one copy of inner's regions for each index of outer."""
    step = size(inner, scope)
    if step == 0:
        return []
    out: list[Region] = []
    axis = outer.id if isinstance(outer, Name) and outer.id in scope.splits else None
    for start, stop, pad in _regions(outer, scope):
        if stop - start > MAX_REGIONS:
            raise _too_many(Binary("*", outer, inner, at=outer.at))
        for index in range(start, stop):
            here = scope.at(axis, index) if axis else scope
            out += [(a + index * step, b + index * step, p) for a, b, p in _regions(inner, here)]
            if len(out) > MAX_REGIONS:
                raise _too_many(Binary("*", outer, inner, at=outer.at))
        if pad:
            out.append((0, 0, pad * local_size(tuple(_regions(inner, scope.at(axis, None) if axis else scope)))))
    return out


def _too_many(expr: Expr) -> FormulaError:
    return FormulaError("SHD112", f"with `{show(expr)}` the dim has over {MAX_REGIONS:,} regions", expr.at)


def _group(child: str, parent: str, scope: Scope, expr: Expr) -> int:
    split = scope.splits.get(child)
    if split is None or split.parent != parent:
        raise FormulaError("SHD203", f"`{show(expr)}`: {child} is not declared `within: {parent}`", expr.at)
    return split.group


def _part_of_group(child: str, parent: str, scope: Scope, expr: Expr) -> Region:
    group = _group(child, parent, scope, expr)
    if parent not in scope.current:
        raise FormulaError("SHD203", f"`{show(expr)}` stands inside a product with {parent}: `{parent} * (…)`", expr.at)
    index = scope.current[parent]
    if index is None:
        return (0, group, 0)
    split = scope.splits[child]
    share = split.share(scope.rank)
    low, high = index * group, (index + 1) * group
    start, stop = min(max(share.start, low), high), min(max(share.stop, low), high)
    return (start - low, stop - low, 0)


def _bounded(value: int, expr: Expr) -> int:
    if value >= LIMIT:
        raise FormulaError("SHD112", f"`{show(expr)}` = {value} is not a size (0 or more, below 2**53)", expr.at)
    return value
