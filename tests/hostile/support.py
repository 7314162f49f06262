"""A spec is text that somebody else wrote: what becomes of it, and how long that takes."""

from __future__ import annotations

import ast
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from shardc.diagnostics import Diagnostic
from shardc.emit.module import module
from shardc.plan.evidence import Evidence
from shardc.rules.check import check_spec
from shardc.source import loads

SECONDS = 20.0
CONFIG = {
    "text_config": {"hidden": 64, "layers": 2, "n_heads": 8, "n_experts": 4, "vocab": 128, "kind": ["a", "b"]},
}
#: Every field of the language that holds text.
SPEC: dict[str, Any] = {
    "spec": 1,
    "name": "hostile",
    "architectures": ["HostileForCausalLM"],
    "about": "A spec that uses every field.",
    "root": "text_config",
    "dtype": ["BF16", "F16"],
    "config": {
        "hidden": "hidden",
        "layers": {"key": ["layers", "n_layer"], "else": 2},
        "n_heads": "n_heads",
        "n_experts": "n_experts",
        "vocab_size": "vocab",
        "kind": "kind",
        "tied": {"key": "tie_word_embeddings", "else": "false"},
    },
    "axes": {
        "heads": {"size": "n_heads"},
        "vocab": {"size": "vocab_size"},
        "experts": {"size": "n_experts", "over": "ep"},
    },
    "let": {"channels": "heads * 8"},
    "contracts": [{"use": "aligned_rows", "with": {"row_bytes": "local(channels) * 16"}, "when": "hidden > 0"}],
    "groups": {
        "embeddings": {
            "tensors": {
                "embed.weight": {"shape": ["vocab", "hidden"], "shard": "vocab_rows"},
                "head.weight": {
                    "shape": ["vocab", "hidden"],
                    "shard": "vocab_rows",
                    "tied_to": {"name": "embed.weight", "when": "tied"},
                },
            }
        },
        "attention": {
            "at": "layers.{layer}",
            "for": {"layer": "layers"},
            "when": "kind[layer] == 'a'",
            "let": {"width": "channels"},
            "axes": {"groups_of": {"size": "n_heads", "role": "heads"}},
            "tensors": {
                "q.weight": {
                    "shape": ["width", "hidden"],
                    "shard": "channel_rows",
                    "formats": ["dense", "fp8_block"],
                    "dtype": {"file": ["BF16"], "load": "BF16"},
                },
                "g.weight": {"shape": ["groups_of * 2", "hidden"], "shard": "channel_rows", "when": "kind[0] != 'c'"},
                "h.weight": {"shape": ["groups_of", "hidden"], "shard": "head_rows"},
            },
            "outputs": {
                "turned.weight": {"permute": "q.weight", "from": "heads * 2 * 4", "to": "heads * 4 * 2"},
                "paired.weight": {"interleave": ["g.weight", "h.weight"], "by": "groups_of"},
            },
        },
        "experts": {
            "at": "layers.{layer}.experts.{expert}",
            "for": {"layer": "layers", "expert": "experts"},
            "tensors": {"up.weight": {"shape": ["hidden", "hidden"], "shard": "expert_slices"}},
            "outputs": {"all.weight": {"concat": ["up.weight"], "stack": "expert"}},
        },
        "again": {"at": "mtp", "like": "embeddings"},
    },
    "ignore": [{"name": "vision.*", "because": "served elsewhere"}],
    "targets": [{"checkpoint": "toy", "tp": [2], "ep": [2]}],
}


def outcome(text: str, config: Mapping[str, Any] = CONFIG) -> tuple[list[str], str | None]:
    """The codes of all errors, or the module that the spec makes; in bounded time."""
    with in_time():
        document, findings = loads(text, "spec.yaml")
        if document is None:
            return errors(findings), None
        checked = check_spec(document, lambda name: (Evidence("config.json", config), []))
        if checked.resolved is None or errors(checked.findings):
            return errors(checked.findings), None
        return [], module(checked.resolved)


def errors(findings: list[Diagnostic]) -> list[str]:
    return [finding.code for finding in findings if finding.severity == "error"]


@contextmanager
def in_time() -> Iterator[None]:
    started = time.perf_counter()
    yield
    seconds = time.perf_counter() - started
    assert seconds < SECONDS, f"{seconds:.1f} s"


def text_of(data: Mapping[str, Any]) -> str:
    """JSON is YAML, with every character escaped that could be one of the file's own."""
    return json.dumps(data)


def changed(*path: str | int, value: object = None, key: str | None = None) -> dict[str, Any]:
    """The spec with one value, or one key, replaced."""
    data: dict[str, Any] = json.loads(json.dumps(SPEC))
    here: Any = data
    for step in path[:-1]:
        here = here[step]
    if key is None:
        here[path[-1]] = value
    else:
        renamed = {key if name == path[-1] else name: item for name, item in here.items()}
        here.clear()
        here.update(renamed)
    return data


def skeleton(code: str) -> str:
    """The module's syntax without its names and literals: what a string of a spec must not be able to change."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            node.value = type(node.value).__name__
        elif isinstance(node, ast.Name):
            node.id = "name"
        elif isinstance(node, ast.keyword):
            node.arg = "keyword"
    return ast.dump(tree)


def assert_safe(code: str) -> None:
    """Only what a generated module needs is imported and called, on lines that look like what they are."""
    tree = ast.parse(code)
    imported = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    assert set(imported) <= {
        "from __future__ import annotations",
        "from collections.abc import Iterable, Iterator, Mapping, Sequence",
        "from math import lcm",
        "from typing import Any, Unpack",
        "import torch",
        "from . import _runtime as rt",
    }
    called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    assert {name for name in called if not name.startswith("rt.")} <= {"range", "min", "max", "lcm", "SystemExit"}
    for node in ast.walk(tree):
        if isinstance(node, ast.FormattedValue):
            assert isinstance(node.value, ast.Name)
    assert len(code.splitlines()) == code.count("\n")
    assert all(character.isprintable() for character in code.replace("\n", ""))
