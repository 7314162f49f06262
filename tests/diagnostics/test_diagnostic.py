"""Findings as values, and that each that shardc makes says which file it is in, or about."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from shardc.diagnostics import Diagnostic, Label, Span
from tests.support import ROOT


def test_the_file_of_a_finding() -> None:
    label = Label(Span("x.yaml", 1, 1, 1, 2))
    assert Diagnostic("SHD101", "m", label).file == "x.yaml"
    assert Diagnostic("SHD501", "m", about="generated/x.py").file == "generated/x.py"
    assert Diagnostic("SHD409", "m").file == ""


def test_every_finding_has_a_file() -> None:
    """Code scanning refuses a whole log for one result without."""
    made = [(path, call) for path in sorted((ROOT / "shardc").rglob("*.py")) for call in makings(path)]
    assert len(made) > 50
    assert [f"{path}:{call.lineno}" for path, call in made if not says_where(call)] == []


def makings(path: Path) -> Iterator[ast.Call]:
    """The calls of `Diagnostic` in a file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Diagnostic":
            yield node


def says_where(call: ast.Call) -> bool:
    return len(call.args) > 2 or any(keyword.arg in ("label", "about") for keyword in call.keywords)
