"""Formula text to a tree. Python's own parser reads it; an allow-list of its nodes decides what is a formula."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from shardc.layout.errors import FormulaError
from shardc.layout.expr import (
    Binary,
    Cat,
    Cols,
    Compare,
    Expr,
    Flag,
    Has,
    Item,
    Items,
    Least,
    Length,
    Local,
    Logic,
    Member,
    Name,
    Not,
    Num,
    Per,
    Text,
)
from shardc.layout.extent import MAX_DEPTH, extent

MAX_LENGTH = 600
MAX_NODES = 200

_BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%", ast.Div: "/"}
_COMPARE = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
#: Words, whole numbers, plain strings and signs. What else Python reads (comments, prefixes, `0x10`) is no formula.
_TOKEN = re.compile(
    r"""\s+ | ('[^'\\\n]*'|"[^"\\\n]*")(?!\s*['"]) | [A-Za-z_]\w*(?!['"\w]) | (0|[1-9][0-9]*)(?!\w) | \*(?!\*)
    | [-+/%|()\[\],.<>=!]""",
    re.ASCII | re.VERBOSE,
)
_FOREIGN = re.compile(r"\w+|\*\*|.", re.DOTALL)
_PER = re.compile(r"'[^']*'|\"[^\"]*\"|\bper\b")
_NAME = re.compile(r"(?:[A-Za-z0-9_.\-]|\{[a-z][a-z0-9_]*\})+")
_FUNCTIONS = "ceil, min, max, len, local, has"


@lru_cache(maxsize=10_000)
def parse(text: str) -> Expr:
    """The tree of `text`; raises FormulaError (SHD104) with the columns of what is not part of the language."""
    if len(text) > MAX_LENGTH:
        raise FormulaError(
            "SHD104", f"a formula has at most {MAX_LENGTH} characters, this one {len(text)}", (0, MAX_LENGTH)
        )
    _check_tokens(text)
    # `heads per kv_heads * head_dim` is `(heads per kv_heads) * head_dim`: `per` binds as Python's power does.
    python = _PER.sub(lambda m: "** " if m[0] == "per" else m[0], text).replace("\n", " ")
    indent = len(text) - len(text.lstrip())
    try:
        tree = ast.parse(python.strip(), mode="eval")
    except SyntaxError as error:
        column = min(max((error.offset or 1) - 1, 0) + indent, len(text) - 1)
        raise FormulaError("SHD104", f"`{text}` is not a formula", (column, column + 1)) from None
    except (RecursionError, MemoryError, ValueError):
        raise FormulaError("SHD104", "the formula is nested too deeply", (0, len(text))) from None
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.expr)]
    if len(nodes) > MAX_NODES:
        raise FormulaError("SHD104", f"a formula has at most {MAX_NODES} parts", (0, len(text)))
    for node in nodes:
        node.col_offset += indent
        node.end_col_offset = (node.end_col_offset or 0) + indent
    expr = _convert(tree.body, text)
    if extent(expr).depth > MAX_DEPTH:
        raise FormulaError("SHD104", "the formula is nested too deeply", (0, len(text)))
    return expr


def _check_tokens(text: str) -> None:
    if not text.strip():
        raise FormulaError("SHD104", "the formula is empty", (0, len(text)))
    start = 0
    while start < len(text):
        token = _TOKEN.match(text, start)
        if token is None:
            foreign = _FOREIGN.match(text, start)
            stop = foreign.end() if foreign else len(text)
            raise FormulaError("SHD104", f"`{text[start:stop]}` is not part of the language", (start, stop))
        start = token.end()


def _convert(node: ast.expr, text: str) -> Expr:
    """`node`, whose columns are those of `text`."""
    at: Cols = (node.col_offset, node.end_col_offset or node.col_offset)
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
            return Items(tuple(_convert(e, text) for e in elts), at=at)
        case ast.BinOp(op=ast.BitOr()):
            return Cat(tuple(_convert(part, text) for part in _segments(node)), at=at)
        case ast.BinOp(left=ast.Name(id=child), op=ast.Pow(), right=ast.Name(id=parent)):
            return Per(child, parent, at=at)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return Binary(_BINARY[type(op)], _convert(left, text), _convert(right, text), at=at)
        case ast.Call(func=ast.Name(id=fn), args=args, keywords=[]):
            return _call(fn, args, at, text)
        case ast.Subscript(value=base, slice=index) if not isinstance(index, ast.Slice):
            return Item(_convert(base, text), _convert(index, text), at=at)
        case ast.Attribute(value=base, attr=name) if not name.startswith("__"):
            return Member(_convert(base, text), name, at=at)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARE:
            return Compare(_COMPARE[type(op)], _convert(left, text), _convert(right, text), at=at)
        case ast.BoolOp(op=op, values=values):
            return Logic("and" if isinstance(op, ast.And) else "or", tuple(_convert(v, text) for v in values), at=at)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return Not(_convert(operand, text), at=at)
    raise FormulaError("SHD104", f"`{text[at[0] : at[1]]}` is not part of the language", at)


def _segments(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return [*_segments(node.left), node.right]
    return [node]


def _call(fn: str, args: list[ast.expr], at: Cols, text: str) -> Expr:
    match fn, args:
        case "ceil", [ast.BinOp(left=left, op=ast.Div(), right=right)]:
            return Binary("ceil", _convert(left, text), _convert(right, text), at=at)
        case "ceil", _:
            raise FormulaError("SHD104", "`ceil` takes one quotient: `ceil(a / b)`", at)
        case (("min" | "max"), [_, _, *_]):
            return Least(fn, tuple(_convert(a, text) for a in args), at=at)
        case "len", [of]:
            return Length(_convert(of, text), at=at)
        case "local", [layout]:
            return Local(_convert(layout, text), at=at)
        case "has", [ast.Constant(value=str() as name)] if _NAME.fullmatch(name):
            return Has(name, at=at)
        case "has", _:
            raise FormulaError("SHD104", "`has` takes the name of one tensor: `has('lm_head.weight')`", at)
    raise FormulaError("SHD104", f"no function `{fn}` of {len(args)} values; there are {_FUNCTIONS}", at)
