"""The committed schema of `--format json`: what the commands print satisfies it, and nothing less does."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from referencing import Registry, Resource

from shardc.cli.specs import check_file
from shardc.diagnostics import NAMES, Diagnostic, Label, Span, Value
from shardc.diagnostics.render import render
from shardc.diagnostics.render_json import render_json
from tests.cli.support import CONFIG, TENSORS, Folder, invoke, make_folder
from tests.diagnostics.sarif_schema import read_log
from tests.support import ROOT

SCHEMA = json.loads((ROOT / "schema" / "findings.v1.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
BAD = sorted(path for path in (ROOT / "tests" / "bad").iterdir() if path.name.startswith("SHD"))
FULL = Diagnostic(
    "SHD201",
    "4 kv_heads cannot be dealt to 8 tp ranks",
    Label(Span("x.yaml", 14, 13, 14, 40), "4 over 8"),
    related=(Label(Span("x.yaml", 31, 31, 31, 50), "512 rows"),),
    values=(Value("kv", 4, "c.json:9"), Value("tied", True), Value("none", None), Value("list", [1, "a"])),
    valid={"tp": (1, 2, 4), "dtype": ("BF16",)},
    notes=("note",),
    help="share",
    same_cause=("v_proj.weight (line 32)",),
)
ROW = {
    "checkpoint": "a", "spec": None, "chosen": "", "tensors": None, "bytes": None, "claimed": 0, "ignored": 0,
    "valid_tp": None, "errors": 1, "warnings": 0, "hints": 0,
}  # fmt: skip
REPORT = {**json.loads(render_json([FULL, Diagnostic("SHD409", "no spec", about="c")])), "checkpoints": [ROW]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    return make_folder(tmp_path, monkeypatch)


def report(*arguments: str) -> Any:
    """What a command prints, which must be valid."""
    printed = json.loads(invoke(*arguments, "--format", "json").stdout)
    VALIDATOR.validate(printed)
    return printed


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$id"] == "findings.v1.json"


def parts(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The schema of the report, and those of the objects in it."""
    yield schema
    yield from (part for part in schema["$defs"].values() if part["type"] == "object")


def test_it_is_strict_and_every_key_is_described() -> None:
    for part in parts(SCHEMA):
        assert part["additionalProperties"] is False
        assert set(part["properties"]) - set(part["required"]) <= {"checkpoints"}
        assert all("description" in field for field in part["properties"].values())
    assert all("description" in part for part in SCHEMA["$defs"].values())


def test_check(folder: Folder) -> None:
    assert report("check")["diagnostics"] == []
    folder.edit("tp: [1, 2, 4, 8]", "tp: [1, 2, 3, 4]")
    found = report("check")["diagnostics"]
    assert {finding["severity"] for finding in found} == {"error", "hint"}
    assert any(finding["valid"] and finding["values"] and finding["label"] for finding in found)
    Path("specs/broken.yaml").write_bytes(b"\xff")
    assert report("check")["diagnostics"][0]["span"] is None


def test_build(folder: Folder) -> None:
    invoke("build")
    assert report("build", "--check")["valid"] is True
    (folder.generated / "tiny.py").unlink()
    (finding,) = report("build", "--check")["diagnostics"]
    assert (finding["code"], finding["file"], finding["span"]) == ("SHD502", "generated/tiny.py", None)


def test_verify(folder: Folder) -> None:
    table = "specs/checkpoints/tiny.json"
    assert len(report("verify", table)["checkpoints"]) == 1
    other = {"config": {**CONFIG, "architectures": ["OtherModel"]}, "tensor_groups": TENSORS}
    Path("specs/checkpoints/other.json").write_text(json.dumps(other))
    Path("specs/checkpoints/broken.json").write_text("[]")
    printed = report("verify", "specs/checkpoints")
    assert [row["spec"] for row in printed["checkpoints"]] == [None, None, "specs/tiny.yaml"]
    assert [finding["code"] for finding in printed["diagnostics"]] == ["SHD406", "SHD409"]
    folder.edit("spec: 1", "spec: 2")
    assert "checkpoints" not in report("verify", "specs/tiny.yaml", table)


@pytest.mark.parametrize("folder", BAD, ids=lambda path: path.name)
def test_every_fault_as_json_and_as_sarif(folder: Path) -> None:
    _, findings = check_file(folder / "spec.yaml")
    VALIDATOR.validate(json.loads(render(findings, "json")))
    log = read_log(render(findings, "sarif"))
    (code,) = {result["ruleId"] for result in log["runs"][0]["results"]}
    assert code == folder.name.partition("_")[0]


def test_every_code_and_name_is_one_that_it_takes() -> None:
    for code in NAMES:
        VALIDATOR.validate(json.loads(render_json([Diagnostic(code, "m", about="x")])))


def paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The path of every key of a report."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        if isinstance(key, str) and path[-1:] not in (("values",), ("sources",), ("valid",)):
            yield (*path, key)
        yield from paths(inner, (*path, key))


def at(report: Any, path: tuple[str | int, ...]) -> Any:
    for key in path:
        report = report[key]
    return report


ALL = list(paths(REPORT))


def test_the_report_that_is_spoilt_here_is_valid() -> None:
    VALIDATOR.validate(REPORT)
    assert len(ALL) > 50


@pytest.mark.parametrize("path", [path for path in ALL if path != ("checkpoints",)], ids=str)
def test_it_refuses_a_missing_key_and_a_value_of_another_type(path: tuple[str | int, ...]) -> None:
    spoilt = copy.deepcopy(REPORT)
    del at(spoilt, path[:-1])[path[-1]]
    assert not VALIDATOR.is_valid(spoilt)
    spoilt = copy.deepcopy(REPORT)
    at(spoilt, path[:-1])[path[-1]] = 0.5
    assert not VALIDATOR.is_valid(spoilt)


@pytest.mark.parametrize(
    "path", [(), ("diagnostics", 0), ("diagnostics", 0, "span"), ("diagnostics", 0, "labels", 0), ("checkpoints", 0)],
    ids=str,
)  # fmt: skip
def test_it_refuses_an_unknown_key(path: tuple[str | int, ...]) -> None:
    spoilt = copy.deepcopy(REPORT)
    at(spoilt, path)["more"] = 1
    assert not VALIDATOR.is_valid(spoilt)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("format_version",), 2),
        (("errors",), -1),
        (("checkpoints",), []),
        (("checkpoints", 0, "valid_tp"), [65]),
        (("diagnostics", 0, "code"), "SHD1"),
        (("diagnostics", 0, "name"), "Two words"),
        (("diagnostics", 0, "severity"), "note"),
        (("diagnostics", 0, "message"), ""),
        (("diagnostics", 0, "file"), ""),
        (("diagnostics", 0, "span", "line"), 0),
        (("diagnostics", 0, "valid"), {"tp": 1}),
        (("diagnostics", 0, "sources"), {"kv": 9}),
        (("diagnostics", 0, "notes"), [1]),
    ],
    ids=str,
)
def test_it_refuses_a_wrong_value(path: tuple[str | int, ...], value: object) -> None:
    spoilt = copy.deepcopy(REPORT)
    at(spoilt, path[:-1])[path[-1]] = value
    assert not VALIDATOR.is_valid(spoilt)


def test_a_finding_can_be_referred_to() -> None:
    """`findings.v1.json#/$defs/finding`, from another schema, is the whole finding with all that it refers to."""
    registry = Registry().with_resource("findings.v1.json", Resource.from_contents(SCHEMA))
    other = {"items": {"$ref": "findings.v1.json#/$defs/finding"}}
    validator = jsonschema.Draft202012Validator(other, registry=registry)
    findings = REPORT["diagnostics"]
    assert validator.is_valid(findings)
    assert not validator.is_valid([{**findings[0], "more": 1}])
    assert not validator.is_valid([{**findings[0], "span": {}}])
