"""The runtime as one file."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import shardc.runtime as rt
from shardc.emit.bundle import HEADER, bundle
from tests.support import ROOT

RUNTIME = ROOT / "shardc" / "runtime"
RUFF = [sys.executable, "-m", "ruff"]


def body(path: Path) -> str:
    """What stands after a module's docstring and imports."""
    text = path.read_text()
    heads = (ast.Import, ast.ImportFrom, ast.Expr)
    last = [node for node in ast.parse(text).body if isinstance(node, heads)][-1]
    return "\n".join(text.split("\n")[last.end_lineno :]).strip("\n")


@pytest.mark.parametrize("module", rt.ORDER)
def test_every_body_is_there_verbatim(module: str) -> None:
    assert body(RUNTIME / f"{module}.py") in bundle()


def test_no_module_is_left_out() -> None:
    assert sorted(rt.ORDER) == sorted(path.stem for path in RUNTIME.glob("*.py") if path.stem != "__init__")


def test_it_is_ours_compiles_and_imports_nothing_of_shardc() -> None:
    text = bundle()
    assert text.startswith(HEADER)
    tree = ast.parse(text)
    froms = {node.module for node in tree.body if isinstance(node, ast.ImportFrom)}
    assert not {name for name in froms if name and name.startswith("shardc")}
    assert not re.search(r"^\s*(from|import) shardc", text, re.MULTILINE)


def test_imports_stand_once_on_top() -> None:
    nodes = ast.parse(bundle()).body
    imports = [isinstance(node, (ast.Import, ast.ImportFrom)) for node in nodes[1:]]
    assert imports == sorted(imports, reverse=True)
    modules = [node.module for node in nodes if isinstance(node, ast.ImportFrom)]
    assert len(modules) == len(set(modules))


def test_it_offers_what_the_runtime_offers() -> None:
    names: set[str] = set()
    for node in ast.parse(bundle()).body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    assert set(rt.__all__) - {"ORDER"} <= names


def test_ruff_finds_nothing(tmp_path: Path) -> None:
    home = tmp_path / "generated"
    home.mkdir()
    (home / "_runtime.py").write_text(bundle())
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    for command in (["check", "--no-cache", "generated"], ["format", "--check", "--no-cache", "generated"]):
        run = subprocess.run([*RUFF, *command], cwd=tmp_path, capture_output=True, text=True)
        assert run.returncode == 0, run.stdout
