"""A formula back to text: one spelling for each tree, valid in the language and (but for `|` and `per`) in Python."""

from __future__ import annotations

from collections.abc import Callable

from shardc.layout.expr import (
    INDEX,
    Binary,
    Cat,
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

_CAT, _OR, _AND, _NOT, _COMPARE, _SUM, _PRODUCT, _ATOM = 4, 0, 1, 2, 3, 5, 6, 9
_LEVEL = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "//": _PRODUCT, "%": _PRODUCT, "/": _PRODUCT}


def show(expr: Expr, name: Callable[[str], str] = str) -> str:
    """`expr` as text; `name` may respell names."""
    return _show(expr, name)[0]


def _show(expr: Expr, name: Callable[[str], str]) -> tuple[str, int]:
    """The text and how tightly its outermost operator binds."""

    def inner(part: Expr, least: int) -> str:
        text, level = _show(part, name)
        return text if level >= least else f"({text})"

    def listed(parts: tuple[Expr, ...]) -> str:
        return ", ".join(inner(part, 0) for part in parts)

    match expr:
        case Num(value) | Flag(value):
            return str(value), _ATOM
        case Text(word):
            return repr(word), _ATOM
        case Name(id):
            return name(id), _ATOM
        case Items(items):
            return f"[{listed(items)}]", _ATOM
        case Binary("ceil", left, right):
            return f"ceil({inner(left, _PRODUCT)} / {inner(right, _PRODUCT + 1)})", _ATOM
        case Binary(op, left, right):
            level = _LEVEL[op]
            return f"{inner(left, level)} {op} {inner(right, level + 1)}", level
        case Least(fn, args):
            return f"{fn}({listed(args)})", _ATOM
        case Length(of):
            return f"len({inner(of, 0)})", _ATOM
        case Local(layout):
            return f"local({inner(layout, 0)})", _ATOM
        case Cat(parts):
            return " | ".join(inner(part, _CAT + 1) for part in parts), _CAT
        case Per(child, parent):
            return f"{name(child)} per {name(parent)}", _PRODUCT + 1
        case Item(base, index):
            return f"{inner(base, _ATOM)}[{inner(index, 0)}]", _ATOM
        case Member(base, member):
            return f"{inner(base, _ATOM)}.{member}", _ATOM
        case Compare(op, left, right):
            return f"{inner(left, _CAT)} {op} {inner(right, _CAT)}", _COMPARE
        case Logic(op, parts):
            level = _AND if op == "and" else _OR
            return f" {op} ".join(inner(part, level + 1) for part in parts), level
        case Has(tensor):
            named = INDEX.sub(lambda found: f"{{{name(found[1])}}}", tensor)
            return f"has({named!r})", _ATOM
        case Not(part):
            return f"not {inner(part, _NOT)}", _NOT
