"""What a picture marks along a dim: the segments of a concatenation, and the elements of an axis."""

from __future__ import annotations

from collections.abc import Mapping

from shardc.layout.expr import Binary, Cat, Expr, Name, segments_of
from shardc.layout.regions import Scope, size
from shardc.layout.show import show
from shardc.layout.strides import strides
from shardc.plan.bound import Bound
from shardc.plan.kinds import axes_in
from shardc.plan.resolved import Axis
from shardc.plan.stored_dims import StoredDim

#: [size, words, step of the elements or 0, inner segments as [size, words]]; sizes in elements of the stored tensor.
Mark = list[object]


def marks(dim: StoredDim, bound: Bound) -> list[Mark]:
    """The segments of a stored tensor's dim, in storage order; one where it is no concatenation, none of no dim."""
    if dim.dim is None:
        return []
    entry, scope = dim.family.entry, dim.family.scope
    parts = segments_of(entry.dims[dim.dim], {})
    axes = bound.axes_of(dim.family)
    lets = {**bound.resolved.lets, **entry.lets}
    written = segments_of(entry.written[dim.dim], lets)
    words = written if len(written) == len(parts) else parts
    unit, count = dim.ratio
    out: list[Mark] = []
    for part, word in zip(parts, words, strict=True):
        rows = size(part, scope)
        step = _step(part, axes, scope)
        repeated, said = _inner(part), _inner(word, lets)
        named = zip(repeated, said if len(said) == len(repeated) else repeated, strict=True)
        inner = [[_in_units(size(p, scope), unit, count), show(w)] for p, w in named]
        out.append([_in_units(rows, unit, count), show(word), step // unit * count if step % unit == 0 else 0, inner])
    return out


def _in_units(rows: int, unit: int, count: int) -> int:
    return -(-rows // unit) * count


def _step(part: Expr, axes: Mapping[str, Axis], scope: Scope) -> int:
    """Rows of one element of the outermost axis; 0 where there is none."""
    found = axes_in(part, axes)
    if not found:
        return 0
    steps = strides(part, found[0], scope)
    return steps[0] if steps else 0


def _inner(part: Expr, lets: Mapping[str, Expr] | None = None) -> tuple[Expr, ...]:
    """The segments inside a product: `kv_heads * (2 * head_dim | head_dim)` has two. It may name one of `lets`."""
    match part:
        case Binary("*", _, Cat(parts)):
            return parts
        case Binary("*", left, Name(name)) if lets and name in lets:
            return _inner(Binary("*", left, lets[name]), lets)
        case Binary("*", _, right):
            return _inner(right, lets)
        case Name(name) if lets and name in lets:
            return _inner(lets[name], lets)
    return ()
