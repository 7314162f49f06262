"""Formulas on plain numbers: sizes, indices and conditions. No axis takes part here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from shardc.layout.errors import FormulaError
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
from shardc.layout.show import show

#: Under this word an environment may have a function that tells which tensors the file has; no name is spelt so.
PRESENT = "has()"
#: No size, and no step on the way to one, may reach this.
LIMIT = 2**53


def evaluate(expr: Expr, env: Mapping[str, object]) -> object:
    """The value of `expr`; raises FormulaError: SHD110 for an inexact `/`, SHD112 for anything else that has none."""
    match expr:
        case Num() | Text() | Flag():
            return expr.value
        case Name(id):
            if id not in env:
                raise FormulaError("SHD103", f"unknown name `{id}`", expr.at)
            return env[id]
        case Items(items):
            return [evaluate(item, env) for item in items]
        case Binary(op, left, right):
            return _arithmetic(op, number(left, env), number(right, env), expr)
        case Least(fn, args):
            values = [number(arg, env) for arg in args]
            return min(values) if fn == "min" else max(values)
        case Length(of):
            value = evaluate(of, env)
            if not isinstance(value, list):
                raise FormulaError("SHD112", f"`{show(of)}` is {_kind(value)}: it has no length", expr.at)
            return len(value)
        case Item(base, index):
            return _item(evaluate(base, env), evaluate(index, env), expr)
        case Member(base, name):
            value = evaluate(base, env)
            if not isinstance(value, Mapping) or name not in value:
                raise FormulaError("SHD112", f"`{show(base)}` has no entry `{name}`", expr.at)
            return value[name]
        case Compare(op, left, right):
            return _compare(op, evaluate(left, env), evaluate(right, env), expr)
        case Logic("and", parts):
            return all(condition(part, env) for part in parts)
        case Logic(_, parts):
            return any(condition(part, env) for part in parts)
        case Not(part):
            return not condition(part, env)
        case Has(tensor):
            present = env.get(PRESENT)
            return callable(present) and present(INDEX.sub(lambda index: str(env[index[1]]), tensor))
    raise FormulaError("SHD203", f"`{show(expr)}` is a layout, not a number", expr.at)


def number(expr: Expr, env: Mapping[str, object]) -> int:
    """The value of `expr` as a whole number of at least 0 and below LIMIT."""
    value = evaluate(expr, env)
    if isinstance(value, bool) or not isinstance(value, int):
        raise FormulaError("SHD112", f"`{show(expr)}` is {_kind(value)}, not a whole number", expr.at)
    if not 0 <= value < LIMIT:
        raise FormulaError("SHD112", f"`{show(expr)}` = {value} is not a size (0 or more, below 2**53)", expr.at)
    return value


def condition(expr: Expr, env: Mapping[str, object]) -> bool:
    value = evaluate(expr, env)
    if not isinstance(value, bool):
        raise FormulaError("SHD112", f"`{show(expr)}` is {_kind(value)}, not true or false", expr.at)
    return value


def _arithmetic(op: str, a: int, b: int, expr: Expr) -> int:
    if op in ("//", "%", "/", "ceil") and b == 0:
        raise FormulaError("SHD112", f"`{show(expr)}` divides by 0", expr.at)
    if op == "/" and a % b:
        raise FormulaError(
            "SHD110",
            f"`{show(expr)}` = {a} / {b} is not whole",
            expr.at,
            "write `//` or `ceil(a / b)` if that is meant",
        )
    return _OPERATIONS[op](a, b)


_OPERATIONS: Mapping[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "/": lambda a, b: a // b,
    "ceil": lambda a, b: -(-a // b),
}


def _item(base: object, index: object, expr: Item) -> object:
    if isinstance(base, Mapping):
        if isinstance(index, str) and index in base:
            return base[index]
        raise FormulaError("SHD112", f"`{show(expr.base)}` has no entry {index!r}", expr.at)
    if not isinstance(base, (list, str)):
        raise FormulaError("SHD112", f"`{show(expr.base)}` is {_kind(base)}: it has no entries", expr.at)
    if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < len(base):
        raise FormulaError("SHD112", f"`{show(expr)}`: index {index!r} of {len(base)} entries", expr.at)
    return base[index]


def _compare(op: str, a: object, b: object, expr: Compare) -> bool:
    if op in ("==", "!="):
        return (a == b) is (op == "==")
    if op in ("in", "not in"):
        if not isinstance(b, (list, str)) or (isinstance(b, str) and not isinstance(a, str)):
            raise FormulaError("SHD112", f"`{show(expr)}`: `in` looks in a list, not in {_kind(b)}", expr.at)
        return (a in b) is (op == "in")
    if isinstance(a, int) and isinstance(b, int):
        return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[op]
    raise FormulaError("SHD112", f"`{show(expr)}`: {_kind(a)} and {_kind(b)} can't be ordered", expr.at)


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    return {int: "a number", float: "a fraction", str: "a word", list: "a list", dict: "a mapping"}.get(
        type(value), "?"
    )
