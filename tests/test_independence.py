"""What shardc keeps apart: who may import what, what files may mention, and how long they may be."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# Written so that this file does not match it.
MACHINE_PATHS = re.compile(r"/wor[k]/|\.\./share[d]|(?<!tests/)\bseed[s]/")
MODULES = [path for path in sorted((ROOT / "generated").glob("*.py")) if not path.name.startswith("_")]


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["check", "specs/llama.yaml"], ["shard", "--help"], ["merge", "--help"], ["reshard", "--help"]],
)
def test_commands_that_copy_nothing_import_no_torch(arguments: list[str]) -> None:
    command = [sys.executable, "-X", "importtime", "-c", "from shardc.cli import main; main()", *arguments]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    modules = {line.rsplit("|", 1)[-1].strip() for line in run.stderr.splitlines() if line.startswith("import time:")}
    assert "click" in modules
    assert {"torch", "safetensors", "numpy"} & modules == set()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_generated_module_imports_torch_and_its_sibling_only(path: Path) -> None:
    text = path.read_text()
    imports = list(imported(ast.parse(text)))
    assert [name for name in imports if name.startswith(".")] == ["._runtime"]
    assert outside_the_standard_library(imports) == {"torch"}
    assert not re.search(r"\b(yaml|pydantic)\b", text.replace(f"specs/{path.stem}.yaml", ""))


def test_the_generated_runtime_imports_torch_only() -> None:
    imports = list(imported(ast.parse((ROOT / "generated" / "_runtime.py").read_text())))
    assert outside_the_standard_library(imports) == {"torch"}
    assert not [name for name in imports if name.startswith(".")]


def test_no_file_mentions_the_machine_it_was_written_on() -> None:
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    mentions = [
        f"{name}: {found[0]}"
        for name in tracked.split("\0")
        if name and (ROOT / name).is_file()
        for found in MACHINE_PATHS.finditer((ROOT / name).read_text(errors="replace"))
    ]
    assert mentions == []


@pytest.mark.parametrize("folder", ["shardc", "tests", "scripts"])
def test_no_file_is_longer_than_300_lines(folder: str) -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in (ROOT / folder).rglob("*.py")
    }
    assert {path: length for path, length in lengths.items() if length > 300} == {}


def imported(tree: ast.Module) -> Iterator[str]:
    """Every module that is imported anywhere in the tree, relative ones with their dots."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level and not node.module:
            yield from ("." * node.level + alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


def outside_the_standard_library(imports: list[str]) -> set[str]:
    """Top-level packages among absolute imports that Python does not come with."""
    packages = {name.split(".")[0] for name in imports if not name.startswith(".")}
    return packages - sys.stdlib_module_names
