"""The syntax of formulas: sizes, conditions and layouts share one small tree.

`at` holds the columns [start, stop) of a node in its formula's text; it never takes part in equality.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

Cols: TypeAlias = tuple[int, int]


class _Node(Struct, frozen=True, eq=False, kw_only=True):
    at: Cols = (0, 0)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and _parts(self) == _parts(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(_parts(self))


class Num(_Node, frozen=True):
    value: int


class Text(_Node, frozen=True):
    value: str


class Flag(_Node, frozen=True):
    value: bool


class Name(_Node, frozen=True):
    id: str


class Items(_Node, frozen=True):
    """A literal list, for `in`."""

    items: tuple[Expr, ...]


class Binary(_Node, frozen=True):
    """`op` is one of + - * // % / and `ceil` (the exact quotient rounded up)."""

    op: str
    left: Expr
    right: Expr


class Least(_Node, frozen=True):
    """`min` or `max` of two or more numbers."""

    fn: str
    args: tuple[Expr, ...]


class Length(_Node, frozen=True):
    """`len(list)`: how many entries a list of the config has."""

    of: Expr


class Local(_Node, frozen=True):
    """`local(layout)`: its size on the rank at hand."""

    layout: Expr


class Cat(_Node, frozen=True):
    """`a | b | c`: segments, one after the other."""

    parts: tuple[Expr, ...]


class Per(_Node, frozen=True):
    """`child per parent`: the child's elements that belong to the parent's current element."""

    child: str
    parent: str


class Item(_Node, frozen=True):
    """`base[index]`."""

    base: Expr
    index: Expr


class Member(_Node, frozen=True):
    """`base.name`: one entry of a nested config value."""

    base: Expr
    name: str


class Compare(_Node, frozen=True):
    """`op` is one of == != < <= > >= in, not in."""

    op: str
    left: Expr
    right: Expr


class Logic(_Node, frozen=True):
    """`and` or `or` of two or more conditions."""

    op: str
    parts: tuple[Expr, ...]


class Not(_Node, frozen=True):
    part: Expr


class Has(_Node, frozen=True):
    """`has('name')`: whether the file has that tensor; the name may have indices in braces."""

    tensor: str


Expr: TypeAlias = (
    Num | Text | Flag | Name | Items | Binary | Least | Length | Local | Cat | Per | Item | Member | Compare | Logic
    | Not | Has
)  # fmt: skip

#: An index in a name: `{layer}`.
INDEX = re.compile(r"\{([a-z][a-z0-9_]*)\}")


def _own(node: _Node) -> tuple[str, ...]:
    """The names of a node's own fields, which are all but `at`."""
    return type(node).__match_args__


def _parts(node: _Node) -> tuple[object, ...]:
    """The values of its own fields."""
    return tuple([getattr(node, name) for name in _own(node)])


def children(expr: Expr) -> Iterator[Expr]:
    """The nodes directly below `expr`, left to right."""
    for value in _parts(expr):
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
    for name, value in zip(_own(expr), _parts(expr), strict=True):
        if isinstance(value, _Node):
            changed[name] = change(value)  # type: ignore[arg-type]
        elif isinstance(value, tuple):
            changed[name] = tuple(change(item) for item in value)
    return replace(expr, **changed) if changed else expr
