"""docs/language.md is true where it can be checked: its worked examples, and that it leaves nothing out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from shardc.diagnostics.codes import NAMES
from shardc.layout.parse import parse
from shardc.layout.regions import Scope, regions
from shardc.layout.split import Dealing, deal
from shardc.plan.kinds import MEANING
from shardc.source import loads
from shardc.spec.axis import Axis
from shardc.spec.group import Group, Tensor
from shardc.spec.library import FormatFile, contract_file, format_file
from shardc.spec.model import Spec
from shardc.spec.outputs import Output

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs" / "language.md").read_text()
ROW = re.compile(r"^\| `(?P<formula>.+?)` \| [^|]+ \| (?P<rows>\d+\.\.\d+(?:, \d+\.\.\d+)*) \|$", re.MULTILINE)
EXAMPLES = [(row["formula"].replace(r"\|", "|"), row["rows"]) for row in ROW.finditer(TEXT)]
SPLITS = {axis: deal(axis, size, "tp", 2, Dealing()) for axis, size in {"heads": 4, "kv_heads": 2, "inter": 6}.items()}
LIBRARY = ROOT / "shardc" / "library"


def test_all_examples_are_found() -> None:
    assert len(EXAMPLES) == 7


@pytest.mark.parametrize(("formula", "rows"), EXAMPLES)
def test_what_rank_1_of_2_keeps(formula: str, rows: str) -> None:
    kept = regions(parse(formula), Scope({"head_dim": 8}, SPLITS, {"tp": 1}))
    assert ", ".join(f"{start}..{stop}" for start, stop, _ in kept) == rows


@pytest.mark.parametrize("model", [Spec, Axis, Group, Tensor, Output])
def test_every_field_is_there(model: type[BaseModel]) -> None:
    fields = {field.alias or name for name, field in model.model_fields.items()}
    assert {field for field in fields if f"`{field}`" not in TEXT} == set()


def test_every_kind_is_there() -> None:
    assert {kind for kind in MEANING if f"| `{kind}` |" not in TEXT} == set()


def test_every_format_is_there() -> None:
    formats = {path.stem for path in LIBRARY.glob("formats/*.yaml")}
    assert {name for name in formats if f"| `{name}` |" not in TEXT} == set()


def test_the_format_in_it_is_the_librarys() -> None:
    [text] = re.findall(r"```yaml\n(name: gptq\n.+?)```", TEXT, re.DOTALL)
    document, findings = loads(text, "gptq.yaml")
    assert document is not None and not findings
    shown, real = FormatFile.model_validate(document.data), format_file("gptq")
    assert (shown.sizes, shown.flags) == (real.sizes, real.flags)
    assert [part for part in real.parts if "qzeros" not in part.name] == shown.parts


def test_every_contract_is_there() -> None:
    names = [path.stem for path in LIBRARY.glob("contracts/*.yaml")]
    rows = {f"| `{name}` | `{contract_file(name).require}` |" for name in names}
    assert {row for row in rows if row not in TEXT} == set()


def test_every_code_it_names_exists() -> None:
    codes = set(re.findall(r"SHD\d+", TEXT))
    assert "SHD210" in codes
    assert codes - NAMES.keys() == set()
