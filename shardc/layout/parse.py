"""Formula text to a tree. Python's own parser reads it; an allow-list of its nodes decides what is a formula."""

from __future__ import annotations

import ast
import re

from shardc.layout.errors import FormulaError
from shardc.layout.expr import (
    Binary,
    Cat,
    Cols,
    Compare,
    Expr,
    Flag,
    Item,
    Items,
    Least,
    Local,
    Logic,
    Member,
    Name,
    Not,
    Num,
    Per,
    Text,
)

MAX_LENGTH = 600
MAX_NODES = 200

_BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%", ast.Div: "/"}
_COMPARE = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
_PER = re.compile(r"'[^']*'|\"[^\"]*\"|\bper\b")
_FUNCTIONS = "ceil, min, max, local"


def parse(text: str) -> Expr:
    """The tree of `text`; raises FormulaError (SHD104) with the columns of what is not part of the language."""
    if len(text) > MAX_LENGTH:
        raise FormulaError(
            "SHD104", f"a formula has at most {MAX_LENGTH} characters, this one {len(text)}", (0, MAX_LENGTH)
        )
    if "**" in text:
        at = text.index("**")
        raise FormulaError("SHD104", "`**` is not part of the language", (at, at + 2))
    # `heads per kv_heads * head_dim` is `(heads per kv_heads) * head_dim`: `per` binds as Python's power does.
    python = _PER.sub(lambda m: "** " if m[0] == "per" else m[0], text).replace("\n", " ")
    try:
        tree = ast.parse(python.strip() or "?", mode="eval")
    except SyntaxError as error:
        column = min(max((error.offset or 1) - 1, 0), max(len(text) - 1, 0))
        raise FormulaError("SHD104", f"`{text}` is not a formula", (column, column + 1)) from None
    except (RecursionError, MemoryError, ValueError):
        raise FormulaError("SHD104", "the formula is nested too deeply", (0, len(text))) from None
    if sum(1 for _ in ast.walk(tree)) > MAX_NODES:
        raise FormulaError("SHD104", f"a formula has at most {MAX_NODES} parts", (0, len(text)))
    return _convert(tree.body, len(text) - len(text.lstrip()))


def _convert(node: ast.expr, indent: int) -> Expr:
    at: Cols = (node.col_offset + indent, (node.end_col_offset or node.col_offset) + indent)
    match node:
        case ast.Constant(value=bool() as flag):
            return Flag(flag, at=at)
        case ast.Constant(value=int() as number) if number < 2**63:
            return Num(number, at=at)
        case ast.Constant(value=str() as word):
            return Text(word, at=at)
        case ast.Name(id="true" | "false"):
            return Flag(node.id == "true", at=at)
        case ast.Name(id=name):
            return Name(name, at=at)
        case ast.List(elts=elts) | ast.Tuple(elts=elts):
            return Items(tuple(_convert(e, indent) for e in elts), at=at)
        case ast.BinOp(op=ast.BitOr()):
            return Cat(tuple(_convert(part, indent) for part in _segments(node)), at=at)
        case ast.BinOp(left=ast.Name(id=child), op=ast.Pow(), right=ast.Name(id=parent)):
            return Per(child, parent, at=at)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return Binary(_BINARY[type(op)], _convert(left, indent), _convert(right, indent), at=at)
        case ast.Call(func=ast.Name(id=fn), args=args, keywords=[]):
            return _call(fn, args, at, indent)
        case ast.Subscript(value=base, slice=index) if not isinstance(index, ast.Slice):
            return Item(_convert(base, indent), _convert(index, indent), at=at)
        case ast.Attribute(value=base, attr=name):
            return Member(_convert(base, indent), name, at=at)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARE:
            return Compare(_COMPARE[type(op)], _convert(left, indent), _convert(right, indent), at=at)
        case ast.BoolOp(op=op, values=values):
            return Logic("and" if isinstance(op, ast.And) else "or", tuple(_convert(v, indent) for v in values), at=at)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return Not(_convert(operand, indent), at=at)
    raise FormulaError("SHD104", f"`{ast.unparse(node)}` is not part of the language", at)


def _segments(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return [*_segments(node.left), node.right]
    return [node]


def _call(fn: str, args: list[ast.expr], at: Cols, indent: int) -> Expr:
    match fn, args:
        case "ceil", [ast.BinOp(left=left, op=ast.Div(), right=right)]:
            return Binary("ceil", _convert(left, indent), _convert(right, indent), at=at)
        case "ceil", _:
            raise FormulaError("SHD104", "`ceil` takes one quotient: `ceil(a / b)`", at)
        case (("min" | "max"), [_, _, *_]):
            return Least(fn, tuple(_convert(a, indent) for a in args), at=at)
        case "local", [layout]:
            return Local(_convert(layout, indent), at=at)
    raise FormulaError("SHD104", f"no function `{fn}` of {len(args)} values; there are {_FUNCTIONS}", at)
