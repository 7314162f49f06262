"""The committed JSON schema: current, valid, and of one mind with the reader of specs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from shardc.source import loads
from shardc.spec.read import read_spec
from shardc.spec.schema import schema
from tests.support import ROOT

FILE = ROOT / "schema" / "spec.v1.json"
SCHEMA = json.loads(schema())
SPECS = sorted((ROOT / "specs").glob("*.yaml"))
GOOD = {
    "spec": 1,
    "name": "tiny",
    "architectures": ["Tiny"],
    "dtype": "BF16",
    "groups": {"all": {"tensors": {"w": {"shape": [4], "shard": "replicated"}}}},
}


def valid(data: Any) -> bool:
    return bool(jsonschema.Draft202012Validator(SCHEMA).is_valid(data))


def accepted(data: Any) -> bool:
    document, findings = loads(json.dumps(data), "spec.yaml")
    assert document is not None, findings
    return read_spec(document)[0] is not None


def test_the_committed_schema_is_current() -> None:
    assert FILE.read_text() == schema()


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$id"] == "spec.v1.json"


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_every_spec_names_and_satisfies_it(path: Path) -> None:
    text = path.read_text()
    assert text.startswith("# yaml-language-server: $schema=../schema/spec.v1.json\n")
    assert valid(yaml.safe_load(text))


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"dtype": ["BF16", "F16"]},
        {"dtype": {"file": "BF16", "load": "F32"}},
        {"config": {"hidden": "hidden_size", "n": {"key": ["a", "b"], "else": 0}, "flag": {"key": "f", "else": False}}},
        {"axes": {"heads": {"size": 8, "if_fewer": "replicate"}}},
        {"targets": [{"checkpoint": "tiny-1.5b", "tp": [1, 2], "ep": [4]}]},
        {"ignore": [{"name": "vision.*", "because": "served elsewhere"}]},
    ],
)
def test_both_accept(change: dict[str, Any]) -> None:
    data = {**GOOD, **change}
    assert (valid(data), accepted(data)) == (True, True)


@pytest.mark.parametrize(
    "change",
    [
        {"spec": 2},
        {"spec": True},
        {"name": "Tiny"},
        {"name": "../tiny"},
        {"architectures": []},
        {"dtype": "BF17"},
        {"shapes": {}},
        {"groups": {}},
        {"axes": {"heads": {"size": 8, "if_fewer": "panic"}}},
        {"axes": {"heads": {"size": 8, "granule": 0}}},
        {"targets": [{"checkpoint": "../../etc/passwd"}]},
        {"targets": [{"checkpoint": "tiny", "tp": [0]}]},
        {"targets": [{"checkpoint": "tiny", "tp": []}]},
        {"ignore": [{"name": "vision.*"}]},
    ],
)
def test_both_refuse(change: dict[str, Any]) -> None:
    data = {**GOOD, **change}
    assert (valid(data), accepted(data)) == (False, False)


def test_every_field_is_described_and_has_an_example() -> None:
    models = [SCHEMA, *SCHEMA["$defs"].values()]
    fields = {(model["title"], name): field for model in models for name, field in model["properties"].items()}
    bare = {place for place, field in fields.items() if "description" not in field or "examples" not in field}
    assert {place for place in bare if place[0] != "Loop"} == set()
