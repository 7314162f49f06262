"""Formulas as Python. Trees are turned into Python's own and unparsed: nothing of a spec reaches code as text."""

from __future__ import annotations

import ast
import json
import keyword
from collections.abc import Callable

from shardc.diagnostics import ShardcBug
from shardc.layout.expr import (
    INDEX,
    Binary,
    Compare,
    Expr,
    Flag,
    Has,
    Item,
    Items,
    Least,
    Length,
    Logic,
    Member,
    Name,
    Not,
    Num,
    Text,
)

_OPERATORS: dict[str, ast.operator] = {
    "+": ast.Add(), "-": ast.Sub(), "*": ast.Mult(), "//": ast.FloorDiv(), "%": ast.Mod(),
}  # fmt: skip
_COMPARISONS: dict[str, ast.cmpop] = {
    "==": ast.Eq(), "!=": ast.NotEq(), "<": ast.Lt(), "<=": ast.LtE(), ">": ast.Gt(), ">=": ast.GtE(),
    "in": ast.In(), "not in": ast.NotIn(),
}  # fmt: skip
#: Names that the generated function uses itself.
_TAKEN = {"at", "c", "config", "file", "granule", "lcm", "len", "max", "mesh", "min", "range", "region", "rt"}


def identifier(name: str) -> str:
    """A spec's name as a Python one; a spec's names never end in `_`, so a respelt one is free."""
    return f"{name}_" if name in _TAKEN or keyword.iskeyword(name) else name


def quote(text: str) -> str:
    """A Python literal of `text` in double quotes; names and reasons of a spec hold no character that needs more."""
    literal = json.dumps(text, ensure_ascii=True)
    if ast.literal_eval(literal) != text:
        literal = repr(text)
    return literal


def name_code(pattern: str) -> str:
    """A name pattern as a literal, an f-string where it has indices."""
    if "{" not in pattern:
        return quote(pattern)
    return "f" + INDEX.sub(lambda m: f"{{{identifier(m[1])}}}", quote(pattern))


def code(expr: Expr, name: Callable[[str], str] = identifier) -> str:
    """`expr` as a Python expression; `name` spells names (which may be any expression of high precedence)."""
    return ast.unparse(_node(expr, name))


def _node(expr: Expr, name: Callable[[str], str]) -> ast.expr:
    def inner(part: Expr) -> ast.expr:
        return _node(part, name)

    match expr:
        case Num() | Flag():
            return ast.Constant(expr.value)
        case Text(word):
            return ast.Name(quote(word))
        case Name(id):
            return ast.Name(name(id))
        case Items(items):
            return ast.List([inner(item) for item in items])
        case Binary("/", left, right):
            return _call("rt.exact", inner(left), inner(right))
        case Binary("ceil", left, right):
            return _call("rt.ceil_div", inner(left), inner(right))
        case Binary(op, left, right):
            return ast.BinOp(inner(left), _OPERATORS[op], inner(right))
        case Least(fn, args):
            return _call(fn, *(inner(arg) for arg in args))
        case Length(of):
            return _call("len", inner(of))
        case Item(base, index):
            return ast.Subscript(inner(base), inner(index))
        case Member(base, member):
            return ast.Subscript(inner(base), ast.Name(quote(member)))
        case Compare(op, left, right):
            return ast.Compare(inner(left), [_COMPARISONS[op]], [inner(right)])
        case Logic("and", parts):
            return ast.BoolOp(ast.And(), [inner(part) for part in parts])
        case Logic("or", parts):
            return ast.BoolOp(ast.Or(), [_bracketed(inner(part)) for part in parts])
        case Not(part):
            return ast.UnaryOp(ast.Not(), inner(part))
        case Has(tensor):
            return _call("file.has", ast.Name(name_code(tensor)))
    raise ShardcBug(f"a layout stands where a number is emitted: {expr}")


def _bracketed(part: ast.expr) -> ast.expr:
    """`a and b` beside an `or`, in the brackets that linters ask for."""
    is_and = isinstance(part, ast.BoolOp) and isinstance(part.op, ast.And)
    return ast.Name(f"({ast.unparse(part)})") if is_and else part


def _call(function: str, *args: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(function), list(args), [])
