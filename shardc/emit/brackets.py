"""Bracketed Python code, on one line where it fits and one item a line where it does not, as ruff would format it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

WIDTH = 120
INDENT = "    "


class Bracket(Struct, frozen=True):
    """`head` and what opens, the items, what closes: a call, a tuple, a dict entry that holds one.

    No comma separates the clauses of a generator.
    """

    head: str
    items: tuple[Code, ...]
    close: str
    single: bool = False
    comma: str = ","

    def flat(self) -> str:
        """All on one line; a tuple of one keeps its comma."""
        inside = f"{self.comma} ".join(flat(item) for item in self.items)
        return f"{self.head}{inside}{',' if self.single and len(self.items) == 1 else ''}{self.close}"


Code: TypeAlias = str | Bracket


def flat(code: Code) -> str:
    return code if isinstance(code, str) else code.flat()


def call(head: str, *items: Code) -> Bracket:
    return Bracket(f"{head}(", items, ")")


def tuple_of(items: Sequence[Code]) -> Code:
    return Bracket("(", tuple(items), ")", single=True) if items else "()"


def dict_of(items: Sequence[Code]) -> Code:
    return Bracket("{", tuple(items), "}")


def generated(*clauses: Code) -> Code:
    """What a generator gives, item by item: `*(region for region in regions)`."""
    return Bracket("*(", clauses, ")", comma="")


def prefixed(prefix: str, code: Code) -> Code:
    """`prefix` before code, on its first line: `at=`, `0: `."""
    return prefix + code if isinstance(code, str) else replace(code, head=prefix + code.head)


def lines(code: Code, depth: int, end: str = "") -> list[str]:
    """The code at an indentation, with `end` after it."""
    margin = INDENT * depth
    line = margin + flat(code) + end
    if isinstance(code, str) or len(line) <= WIDTH:
        return [line]
    out = [margin + code.head]
    for item in code.items:
        out += lines(item, depth + 1, code.comma)
    return [*out, margin + code.close + end]
