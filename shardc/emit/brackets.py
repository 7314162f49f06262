"""Bracketed Python code, on one line where it fits and one item a line where it does not, as ruff would format it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

WIDTH = 120
INDENT = "    "


@dataclass(frozen=True, slots=True)
class Bracket:
    """`head` and what opens, the items, what closes: a call, a tuple, a dict entry that holds one."""

    head: str
    items: tuple[Code, ...]
    close: str
    single: bool = False

    def flat(self) -> str:
        """All on one line; a tuple of one keeps its comma."""
        inside = ", ".join(flat(item) for item in self.items)
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


def prefixed(prefix: str, code: Code) -> Code:
    """`prefix` before code, on its first line: `at=`, `0: `."""
    return prefix + code if isinstance(code, str) else Bracket(prefix + code.head, code.items, code.close, code.single)


def lines(code: Code, depth: int, end: str = "") -> list[str]:
    """The code at an indentation, with `end` after it."""
    margin = INDENT * depth
    line = margin + flat(code) + end
    if isinstance(code, str) or len(line) <= WIDTH:
        return [line]
    out = [margin + code.head]
    for item in code.items:
        out += lines(item, depth + 1, ",")
    return [*out, margin + code.close + end]
