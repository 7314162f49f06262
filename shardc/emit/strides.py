"""Rows of one element of an axis, and of parts inside a product, as code: what a format's units are compared with."""

from __future__ import annotations

from shardc.emit.dims import Dims
from shardc.emit.python import identifier
from shardc.layout.expr import Binary, Cat, Expr, Name, Per
from shardc.layout.terms import ONE, mul


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


def nested_parts(expr: Expr, dims: Dims) -> list[Expr]:
    """Rows of each part of each concatenation that stands inside a product."""
    match expr:
        case Name(id) if id in dims.lets:
            return nested_parts(dims.lets[id], dims)
        case Cat(parts):
            return [size for part in parts for size in nested_parts(part, dims)]
        case Binary("*", _, _):
            return _inside(expr, ONE, dims)
    return []


def _inside(expr: Expr, step: Expr, dims: Dims) -> list[Expr]:
    match expr:
        case Name(id) if id in dims.lets:
            return _inside(dims.lets[id], step, dims)
        case Cat(parts):
            return [size for part in parts for size in (mul(dims.full(part), step), *_inside(part, step, dims))]
        case Binary("*", left, right):
            return _inside(left, mul(step, dims.full(right)), dims) + _inside(right, step, dims)
    return []
