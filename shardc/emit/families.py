"""Families of tensors as code, and where in the loops of its group one can be said."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from itertools import count

from msgspec import Struct

from shardc.emit.brackets import Code, call, dict_of, flat, prefixed, tuple_of
from shardc.emit.dims import Dims
from shardc.emit.python import code, identifier, quote
from shardc.emit.strides import nested_parts, stride_code
from shardc.layout.expr import Expr, segments_of
from shardc.plan.kinds import axes_in
from shardc.plan.resolved import Entry, Resolved

#: What raises where a size does not divide.
_CAN_FAIL = ("rt.exact", "rt.ceil_div", "rt.per")


class Families(Struct, frozen=True):
    """Writes families, given the variables of regions and the names that are taken."""

    resolved: Resolved
    regions: Mapping[Expr, str]
    taken: set[str]

    def code(self, entry: Entry, dims: Dims) -> Code:
        """`rt.Family(…)` of an entry's tensors."""
        shape = tuple_of([dims.size(expr) for expr in entry.written])
        spec = self.resolved.spec.dtype
        dtype = tuple_of([quote(d) for d in entry.dtypes]) if entry.dtypes != tuple(spec.file) else "DTYPE"
        items: list[Code] = [shape, quote(entry.kind), dtype]
        at = self._at(entry, dims)
        if at:
            items.append(prefixed("at=", dict_of(at)))
        if entry.load is not None:
            items.append(f"load={quote(entry.load)}")
        if [f.name for f in entry.formats] != ["dense"]:
            items.append(prefixed("formats=", tuple_of([quote(f.name) for f in entry.formats])))
            items += _units(entry, dims)
            if entry.swapped:
                items.append("swapped=True")
        if entry.optional:
            items.append("optional=True")
        if entry.tie is not None:
            tied = quote(entry.tie.name)
            when = entry.tie.when
            items.append(f"tied_to={tied}" if when is None else f"tied_to={tied} if {code(when)} else None")
        return call("rt.Family", *items)

    def _at(self, entry: Entry, dims: Dims) -> list[Code]:
        out: list[Code] = []
        for i, (expr, written) in enumerate(zip(entry.dims, entry.written, strict=True)):
            if i == entry.rank0_dim:
                axis = self.resolved.summed.get(entry.pattern)
                summed = identifier(axis) if axis else 'mesh["tp"]'
                out.append(f"{i}: rt.rank0({summed}, {dims.size(written)})")
            elif (regions := self.regions.get(expr) or dims.regions(written)) is not None:
                out.append(prefixed(f"{i}: ", regions))
        return out

    def variable(self, prefix: str, pattern: str, own: set[str]) -> str:
        """A name for the family of a name pattern, by what follows the prefix; `own` are the others of its group."""
        end = pattern.removeprefix(prefix).rpartition("}")[2].removesuffix(".weight")
        if end == "weight":
            end = prefix.removesuffix(".").rpartition(".")[2]
        words = "_".join(re.findall(r"\w+", end)).lower() or "tensor"
        base = identifier(words if words.isidentifier() else f"tensor_{words}")
        taken = self.taken | own
        return next(name for n in count() if (name := base if n == 0 else f"{base}{n + 1}") not in taken)


def loops_around(family: Code, bound: list[set[str]]) -> int:
    """How many loops a family has to stand in; `bound` are the names that each loop binds.

    One that may fail stands in all of them: where a loop has no round, nothing is to fail.
    """
    nodes = list(ast.walk(ast.parse(flat(family))))
    if any(map(_can_fail, nodes)):
        return len(bound)
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    return max((number for number, names in enumerate(bound, 1) if names & used), default=0)


def _can_fail(node: ast.AST) -> bool:
    match node:
        case ast.BinOp(op=ast.FloorDiv() | ast.Mod(), right=divisor):
            is_positive = isinstance(divisor, ast.Constant) or ast.unparse(divisor).startswith("max(")
            return not is_positive
        case ast.Subscript(value=value):
            return ast.unparse(value) != "mesh"
        case ast.Call(func=function):
            return ast.unparse(function) in _CAN_FAIL
    return False


def _units(entry: Entry, dims: Dims) -> list[Code]:
    """What formats need to know: rows of one element of each axis, and the parts of concatenations."""
    units: list[Code] = []
    segments: list[Code] = []
    nested: list[Code] = []
    for i, (expr, written) in enumerate(zip(entry.dims, entry.written, strict=True)):
        if i not in (entry.out_dim, entry.in_dim):
            continue
        for axis in dict.fromkeys(axes_in(expr, dims.axes)):
            for root, stride in stride_code(written, axis, dims):
                units.append(tuple_of([quote(root), str(i), stride]))
        parts = segments_of(written, dims.lets)
        if len(parts) > 1:
            segments.append(prefixed(f"{i}: ", tuple_of([dims.size(part) for part in parts])))
        inside = dict.fromkeys(dims.code(size) for size in nested_parts(written, dims))
        if inside:
            nested.append(prefixed(f"{i}: ", tuple_of(list(inside))))
    out: list[Code] = []
    if units:
        out.append(prefixed("units=", tuple_of(list(dict.fromkeys(units)))))
    if segments:
        out.append(prefixed("segments=", dict_of(segments)))
    if nested:
        out.append(prefixed("nested=", dict_of(nested)))
    return out
