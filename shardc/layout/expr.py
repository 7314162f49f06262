"""The syntax of formulas: sizes, conditions and layouts share one small tree.

`at` holds the columns [start, stop) of a node in its formula's text; it never takes part in equality.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TypeAlias

Cols: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Node:
    at: Cols = field(default=(0, 0), compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Num(_Node):
    value: int


@dataclass(frozen=True, slots=True)
class Text(_Node):
    value: str


@dataclass(frozen=True, slots=True)
class Flag(_Node):
    value: bool


@dataclass(frozen=True, slots=True)
class Name(_Node):
    id: str


@dataclass(frozen=True, slots=True)
class Items(_Node):
    """A literal list, for `in`."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Binary(_Node):
    """`op` is one of + - * // % / and `ceil` (the exact quotient rounded up)."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Least(_Node):
    """`min` or `max` of two or more numbers."""

    fn: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Length(_Node):
    """`len(list)`: how many entries a list of the config has."""

    of: Expr


@dataclass(frozen=True, slots=True)
class Local(_Node):
    """`local(layout)`: its size on the rank at hand."""

    layout: Expr


@dataclass(frozen=True, slots=True)
class Cat(_Node):
    """`a | b | c`: segments, one after the other."""

    parts: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Per(_Node):
    """`child per parent`: the child's elements that belong to the parent's current element."""

    child: str
    parent: str


@dataclass(frozen=True, slots=True)
class Item(_Node):
    """`base[index]`."""

    base: Expr
    index: Expr


@dataclass(frozen=True, slots=True)
class Member(_Node):
    """`base.name`: one entry of a nested config value."""

    base: Expr
    name: str


@dataclass(frozen=True, slots=True)
class Compare(_Node):
    """`op` is one of == != < <= > >= in, not in."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Logic(_Node):
    """`and` or `or` of two or more conditions."""

    op: str
    parts: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Not(_Node):
    part: Expr


@dataclass(frozen=True, slots=True)
class Has(_Node):
    """`has('name')`: whether the file has that tensor; the name may have indices in braces."""

    tensor: str


Expr: TypeAlias = (
    Num | Text | Flag | Name | Items | Binary | Least | Length | Local | Cat | Per | Item | Member | Compare | Logic
    | Not | Has
)  # fmt: skip


_NODES = (
    Num, Text, Flag, Name, Items, Binary, Least, Length, Local, Cat, Per, Item, Member, Compare, Logic, Not, Has,
)  # fmt: skip
#: An index in a name: `{layer}`.
INDEX = re.compile(r"\{([a-z][a-z0-9_]*)\}")
#: The fields of each kind of node that may hold other nodes.
_PARTS = {node: tuple(spec.name for spec in fields(node) if spec.name != "at") for node in _NODES}


def children(expr: Expr) -> Iterator[Expr]:
    """The nodes directly below `expr`, left to right."""
    for name in _PARTS[type(expr)]:
        value = getattr(expr, name)
        if isinstance(value, tuple):
            yield from value
        elif isinstance(value, _Node):
            yield value  # type: ignore[misc]


def walk(expr: Expr) -> Iterator[Expr]:
    """`expr` and every node below it."""
    yield expr
    for child in children(expr):
        yield from walk(child)


def names(expr: Expr) -> set[str]:
    """Every name that `expr` mentions."""
    return {name for node in walk(expr) for name in own_names(node)}


def own_names(node: Expr) -> tuple[str, ...]:
    """The names that a node itself mentions, without those below it."""
    match node:
        case Name(id):
            return (id,)
        case Per(child, parent):
            return (child, parent)
        case Has(tensor):
            return tuple(INDEX.findall(tensor))
    return ()


def segments_of(layout: Expr, lets: Mapping[str, Expr]) -> tuple[Expr, ...]:
    """The segments of a layout, one where it is no concatenation: `a | (b | c)` has three, also if `b | c` is a let."""
    match layout:
        case Cat(parts):
            return tuple(segment for part in parts for segment in segments_of(part, lets))
        case Name(id) if id in lets:
            inside = segments_of(lets[id], lets)
            return inside if len(inside) > 1 else (layout,)
    return (layout,)


def substitute(expr: Expr, by: Mapping[str, Expr]) -> Expr:
    """`expr` with the names in `by` replaced; all of a replacement takes the position of the name it stands for."""

    def replaced(node: Expr) -> Expr | None:
        return _placed(by[node.id], node.at) if isinstance(node, Name) and node.id in by else None

    return _rebuild(expr, replaced)


def replace_nodes(expr: Expr, by: Mapping[Expr, Expr]) -> Expr:
    """`expr` with whole subtrees replaced."""
    return _rebuild(expr, by.get)


def _placed(expr: Expr, at: Cols) -> Expr:
    """`expr` with every node at one position."""
    return replace(_with_children(expr, lambda child: _placed(child, at)), at=at)


def _rebuild(expr: Expr, replaced: Callable[[Expr], Expr | None]) -> Expr:
    new = replaced(expr)
    return new if new is not None else _with_children(expr, lambda child: _rebuild(child, replaced))


def _with_children(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    changed: dict[str, object] = {}
    for name in _PARTS[type(expr)]:
        value = getattr(expr, name)
        if isinstance(value, _Node):
            changed[name] = change(value)  # type: ignore[arg-type]
        elif isinstance(value, tuple):
            changed[name] = tuple(change(item) for item in value)
    return replace(expr, **changed) if changed else expr  # type: ignore[arg-type]
