"""Rows of one element of an axis, as code: what a format's units are compared with."""

from __future__ import annotations

from shardc.emit.dims import Dims
from shardc.emit.pieces import ONE, mul
from shardc.emit.python import identifier
from shardc.layout.expr import Binary, Cat, Expr, Name, Per


def stride_code(expr: Expr, axis: str, dims: Dims) -> list[tuple[str, str]]:
    """(root axis, rows of one of its elements) for each place where `axis` occurs in the layout."""
    return [_at_root(axis, stride, dims) for stride in _strides(expr, axis, dims)]


def _strides(expr: Expr, axis: str, dims: Dims) -> list[Expr]:
    match expr:
        case Name(id) if id in dims.lets:
            return _strides(dims.lets[id], axis, dims)
        case Name(id):
            return [ONE] if id == axis else []
        case Per(child, _):
            return [ONE] if child == axis else []
        case Cat(parts):
            return [stride for part in parts for stride in _strides(part, axis, dims)]
        case Binary("*", left, right):
            step = dims.full(right)
            return [mul(stride, step) for stride in _strides(left, axis, dims)] + _strides(right, axis, dims)
    return []


def _at_root(axis: str, stride: Expr, dims: Dims) -> tuple[str, str]:
    while (parent := dims.axes[axis].within) is not None:
        stride = mul(stride, Name(f"({identifier(axis)}.size // max({identifier(parent)}.size, 1))"))
        axis = parent
    return axis, dims.code(stride)
