"""Text that would like to be code: in every field of a spec it is refused, or stays text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.hostile.support import SPEC, assert_safe, changed, outcome, skeleton, text_of
from tests.support import generated, generated_rows, plan, resolved, rows

PAYLOADS = [
    '"""\nimport os\nos.system("id")\n"""',
    '"); import os; ("',
    "'); import os; ('",
    "\\",
    "\\'''",
    '\\"""',
    "{__import__('os')}",
    "{layer.__class__}",
    "{layer!r:>{layer}}",
    "{{ 7 * 7 }}{% raw %}",
    "# DO NOT EDIT",
    "a\nimport os",
    "a\rimport os",
    "a\x00b",
    "a\x0cb",
    "a\x85b",
    "a\u2028import os",
    "a\u202eb\u2066",
    "a\ufeffb",
    "\u0430bc",
    "Ｆ",
    "__import__('os').system('id')",
    "../../../etc/passwd",
    "/etc/passwd",
    "..",
    "",
    " ",
    "None",
    "x" * 5000,
]
#: Where text stays text: a module built from it has the syntax of the harmless one.
VALUES = [
    ("about",),
    ("ignore", 0, "because"),
    ("ignore", 0, "name"),
    ("config", "hidden"),
    ("config", "layers", "key", 1),
    ("root",),
    ("architectures", 0),
    ("targets", 0, "checkpoint"),
    ("dtype",),
    ("dtype", 0),
    ("contracts", 0, "use"),
    ("groups", "attention", "at"),
    ("groups", "again", "like"),
    ("groups", "again", "at"),
    ("groups", "embeddings", "tensors", "embed.weight", "shard"),
    ("groups", "embeddings", "tensors", "head.weight", "tied_to", "name"),
    ("groups", "attention", "tensors", "q.weight", "formats", 0),
    ("groups", "attention", "tensors", "q.weight", "dtype", "load"),
    ("name",),
    ("axes", "heads", "over"),
    ("axes", "heads", "within"),
    ("axes", "heads", "if_uneven"),
    ("groups", "attention", "outputs", "turned.weight", "permute"),
    ("groups", "attention", "outputs", "paired.weight", "interleave", 0),
    ("groups", "attention", "outputs", "paired.weight", "by"),
    ("groups", "experts", "outputs", "all.weight", "concat", 0),
    ("groups", "experts", "outputs", "all.weight", "stack"),
]
FORMULAS = [
    ("config", "layers", "else"),
    ("axes", "heads", "size"),
    ("let", "channels"),
    ("contracts", 0, "when"),
    ("contracts", 0, "with", "row_bytes"),
    ("groups", "attention", "when"),
    ("groups", "attention", "for", "layer"),
    ("groups", "attention", "let", "width"),
    ("groups", "attention", "axes", "groups_of", "size"),
    ("groups", "attention", "tensors", "q.weight", "shape", 1),
    ("groups", "attention", "tensors", "g.weight", "when"),
    ("groups", "embeddings", "tensors", "head.weight", "tied_to", "when"),
    ("groups", "attention", "outputs", "turned.weight", "from"),
    ("groups", "attention", "outputs", "turned.weight", "to"),
]
KEYS = [
    ("config", "hidden"),
    ("axes", "heads"),
    ("let", "channels"),
    ("contracts", 0, "with", "row_bytes"),
    ("groups", "attention"),
    ("groups", "attention", "for", "layer"),
    ("groups", "attention", "let", "width"),
    ("groups", "attention", "axes", "groups_of"),
    ("groups", "embeddings", "tensors", "embed.weight"),
    ("groups", "attention", "outputs", "turned.weight"),
    ("groups", "experts", "outputs", "all.weight"),
    ("about",),
]

NAMED = """\
spec: 1
name: named
architectures: [Named]
dtype: BF16
config: {NAME: width}
axes: {heads: {size: NAME * 2}}
groups: {all: {tensors: {w: {shape: [NAME * heads], shard: column_parallel, when: NAME > 0}}}}
"""


def shown(value: object) -> str:
    return ".".join(map(str, value)) if isinstance(value, tuple) else ascii(value)[:24]


@pytest.fixture(scope="module")
def harmless() -> str:
    codes, code = outcome(text_of(SPEC))
    assert codes == [] and code is not None
    assert_safe(code)
    return code


@pytest.mark.parametrize("path", VALUES, ids=shown)
def test_a_value(harmless: str, path: tuple[Any, ...]) -> None:
    for payload in PAYLOADS:
        codes, code = outcome(text_of(changed(*path, value=payload)))
        assert (code is None) == bool(codes), payload
        if code is not None:
            assert_safe(code)
            assert skeleton(code) == skeleton(harmless), payload


@pytest.mark.parametrize("path", FORMULAS, ids=shown)
def test_a_formula(path: tuple[Any, ...]) -> None:
    for payload in PAYLOADS:
        codes, code = outcome(text_of(changed(*path, value=payload)))
        assert (code is None) == bool(codes), payload
        if code is not None:
            assert payload in ('"); import os; ("', "'); import os; ('"), "a word in quotes, where any value may stand"
            assert_safe(code)


@pytest.mark.parametrize("path", KEYS, ids=shown)
def test_a_key(harmless: str, path: tuple[Any, ...]) -> None:
    for payload in PAYLOADS:
        codes, code = outcome(text_of(changed(*path, key=payload)))
        assert (code is None) == bool(codes), payload
        if code is not None:
            assert payload in ("None", ".."), "a tensor may be called so"
            assert_safe(code)
            assert skeleton(code) == skeleton(harmless)


@pytest.mark.parametrize("word", [p for p in PAYLOADS if "'" not in p and "\\" not in p and len(p) < 500], ids=shown)
def test_a_word_in_a_condition(harmless: str, word: str) -> None:
    codes, code = outcome(text_of(changed("groups", "attention", "when", value=f"kind[layer] == '{word}'")))
    if code is None:
        assert codes == ["SHD104"]
        assert any(ord(character) < 32 for character in word)
    else:
        assert_safe(code)
        assert skeleton(code) == skeleton(harmless)


@pytest.mark.parametrize(
    "formula",
    [
        "__import__('os').system('id')", "().__class__", "hidden.__class__.__mro__", "(lambda: 1)()", "[x for x in kind]",
        "hidden if tied else layers", "hidden := 3", "f'{hidden}'", "b'a'", "hidden ** 99", "hidden << 99", "~hidden",
        "-hidden", "exec('1')", "print(hidden)", "min(*kind)", "max(hidden, key=hidden)", "kind[0:1]", "{1: 2}", "{1}",
        "await hidden", "yield", "hidden; layers", "hidden # x", "1_000", "0x10", "1.5", "1e9", "1j", "...", "None", "True",
        "hidden\nlayers", "local(hidden)", "ceil(hidden)", "hidden @ layers", "not", "a b", "per per per", "lambda",
    ],
)  # fmt: skip
def test_python_that_is_no_formula(formula: str) -> None:
    path = ("groups", "attention", "tensors", "q.weight", "shape", 1)
    codes, code = outcome(text_of(changed(*path, value=formula)))
    assert codes != [] and code is None


@pytest.mark.parametrize(
    "name",
    ["i", "j", "k", "region", "rt", "c", "config", "mesh", "granule", "at", "lcm", "torch", "tensors", "plan", "print",
     "range_", "max", "min", "range", "lambda", "int", "type", "match", "self", "json", "row_bytes"],
)  # fmt: skip
def test_a_name_that_python_or_the_module_uses(name: str, tmp_path: Path) -> None:
    """As a config symbol it is refused, or stands for the config's value and nothing else."""
    text = NAMED.replace("NAME", name)
    codes, code = outcome(text, {"width": 3})
    assert (code is None) == bool(codes)
    if code is None:
        assert name in ("max", "min", "range_", "lambda")
        return
    assert_safe(code)
    names = rows(plan(text, {"width": 3}, {"tp": 2}), {"tp": 1})
    shards = generated_rows(generated(resolved(text), tmp_path), {"width": 3}, {"tp": (1, 2)})
    assert shards == names
    assert names["w"][:2] == ((18,), (((3, 6, 0), (9, 12, 0), (15, 18, 0)),))


@pytest.mark.parametrize("name", ["_runtime", "__init__", "__main__", "Con", "a.b", "a/b", "import", "true", "x_", "é"])
def test_a_module_cannot_take_a_name_that_is_not_its_own(name: str) -> None:
    assert outcome(text_of(changed("name", value=name)))[0] == ["SHD101"]
