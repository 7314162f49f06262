"""What the bundler needs: the files of this package, joined in ORDER, are one module."""

import ast
import importlib
import sys
from pathlib import Path

import pytest

import shardc.runtime
from shardc.runtime import ORDER

FOLDER = Path(shardc.runtime.__file__).parent
TREES = {name: ast.parse((FOLDER / f"{name}.py").read_text()) for name in ORDER}


def defined(statement: ast.stmt) -> list[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Assign(targets=targets):
            return [target.id for target in targets if isinstance(target, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
    return []


def test_order_names_every_file() -> None:
    assert sorted(ORDER) == sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")


def test_no_name_is_defined_or_imported_as_another_thing() -> None:
    names = [name for tree in TREES.values() for statement in tree.body for name in defined(statement)]
    imported = {
        alias.asname or alias.name
        for tree in TREES.values()
        for node in tree.body
        if isinstance(node, ast.Import)
        or (isinstance(node, ast.ImportFrom) and not (node.module or "").startswith("shardc"))
        for alias in node.names
    }
    assert sorted(names) == sorted(set(names))
    assert not imported & set(names)


@pytest.mark.parametrize("name", ORDER)
def test_imports(name: str) -> None:
    before = {f"shardc.runtime.{earlier}" for earlier in ORDER[: ORDER.index(name)]}
    top = TREES[name].body
    for node in ast.walk(TREES[name]):
        if isinstance(node, ast.Import | ast.ImportFrom):
            assert node in top
            module = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
            assert module is not None
            if module.startswith("shardc"):
                assert isinstance(node, ast.ImportFrom)
                assert module in before
                assert all(alias.asname is None for alias in node.names)


@pytest.mark.parametrize("name", ORDER)
def test_heads(name: str) -> None:
    docstring = ast.get_docstring(TREES[name])
    assert docstring is not None
    assert "\n" not in docstring
    assert ast.unparse(TREES[name].body[1]) == "from __future__ import annotations"


def test_the_joined_files_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    statements = [
        ast.unparse(statement)
        for tree in TREES.values()
        for statement in tree.body[2:]
        if not (isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith("shardc"))
    ]
    (tmp_path / "joined_runtime.py").write_text("\n".join(["from __future__ import annotations", *statements]))
    monkeypatch.syspath_prepend(tmp_path)
    joined = importlib.import_module("joined_runtime")
    monkeypatch.delitem(sys.modules, "joined_runtime")
    assert set(shardc.runtime.__all__) - {"ORDER"} <= vars(joined).keys()
