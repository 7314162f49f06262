"""`shardc verify` of several checkpoints, and how a checkpoint's spec is found."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from shardc.checkpoint import read_checkpoint
from tests.cli.support import CONFIG, SPEC, TENSORS, Folder, invoke
from tests.support import ROOT

TABLES = Path("specs/checkpoints")
TINY = TABLES / "tiny.json"
ROW = "specs/tiny.yaml  specs/checkpoints/tiny.json   "


def write_table(name: str, tensors: list[dict[str, Any]] = TENSORS, **config: Any) -> Path:
    path = TABLES / f"{name}.json"
    path.write_text(json.dumps({"config": {**CONFIG, **config}, "tensor_groups": tensors}))
    return path


def lines(*arguments: str | Path) -> list[str]:
    return invoke("verify", *arguments).output.splitlines()


def test_a_directory_of_tables(folder: Folder) -> None:
    write_table("small", [{**group, "index": [[[0, 0]]]} for group in TENSORS], num_layers=1)
    result = invoke("verify", TABLES)
    assert (result.exit_code, result.output) == (
        0,
        """\
spec             checkpoint                    tensors   bytes  valid tp    findings
---------------  ----------------------------  -------  ------  ----------  --------
specs/tiny.yaml  specs/checkpoints/small.json        2  2048 B  1, 2, 4, 8  clean
specs/tiny.yaml  specs/checkpoints/tiny.json         4  4096 B  1, 2, 4, 8  clean

no errors; 2 checkpoints, 6 tensors
""",
    )


def test_findings_name_their_checkpoint_and_are_an_exit_code(folder: Folder) -> None:
    other = write_table("other", TENSORS[:1])
    unknown = write_table("unknown", architectures=["OtherModel"])
    (TABLES / "broken.json").write_text("[]")
    result = invoke("verify", TINY, other, unknown, TABLES / "broken.json", "--format", "concise")
    assert result.exit_code == 1
    assert (
        result.output
        == """\
spec             checkpoint                      tensors   bytes  valid tp    findings
---------------  ------------------------------  -------  ------  ----------  --------
specs/tiny.yaml  specs/checkpoints/tiny.json           4  4096 B  1, 2, 4, 8  clean
specs/tiny.yaml  specs/checkpoints/other.json          2  2048 B  1, 2, 4, 8  1 error
-                specs/checkpoints/unknown.json        4  4096 B  -           1 error
-                specs/checkpoints/broken.json         -       -  -           1 error

error[SHD406] specs/checkpoints/broken.json: does not hold a JSON object
error[SHD409] no spec in specs for the architectures of specs/checkpoints/unknown.json: OtherModel
specs/tiny.yaml:13:7: error[SHD401] specs/checkpoints/other.json: layers.0.o_proj.weight is missing (and 1 more like it)
3 of 4 checkpoints with errors; 4 checkpoints, 10 tensors
"""
    )


def test_github_has_annotations_alone(folder: Folder) -> None:
    output = lines(TINY, write_table("other", TENSORS[:1]), "--format", "github")
    assert [line.partition(" ")[0] for line in output] == ["::error"]


def test_json_has_a_row_for_each_checkpoint(folder: Folder) -> None:
    result = invoke("verify", TINY, write_table("other", TENSORS[:1]), "--format", "json")
    report = json.loads(result.stdout)
    assert (result.exit_code, report["format_version"], report["valid"], report["errors"]) == (1, 1, False, 1)
    assert [finding["code"] for finding in report["diagnostics"]] == ["SHD401"]
    assert report["checkpoints"][1] == {
        "checkpoint": "specs/checkpoints/other.json",
        "spec": "specs/tiny.yaml",
        "chosen": "",
        "tensors": 2,
        "bytes": 2048,
        "claimed": 2,
        "ignored": 0,
        "valid_tp": [1, 2, 4, 8],
        "errors": 1,
        "warnings": 0,
        "hints": 0,
    }
    [row] = json.loads(invoke("verify", TINY, "--format", "json").stdout)["checkpoints"]
    assert (row["checkpoint"], row["errors"]) == ("specs/checkpoints/tiny.json", 0)


def test_a_leading_spec_is_for_all(folder: Folder) -> None:
    write_table("unknown", architectures=["OtherModel"])
    assert [line.split()[0] for line in lines(folder.spec, TABLES)[2:4]] == [str(folder.spec)] * 2
    assert "one spec at most, before all checkpoints" in invoke("verify", TINY, folder.spec).output
    assert "give a checkpoint" in invoke("verify", folder.spec).output


def test_a_spec_with_errors_is_said_once_and_not_compared(folder: Folder) -> None:
    write_table("other")
    folder.edit("shard: channel_rows", "shard: channel_cols")
    result = invoke("verify", folder.spec, TABLES, "--format", "concise")
    assert result.exit_code == 1
    assert result.output.count("error[SHD210]") == 1


def test_a_spec_that_cannot_be_read_is_what_is_said(folder: Folder) -> None:
    folder.edit("spec: 1", "spec: one")
    output = invoke("verify", TINY, "--format", "concise").output
    assert "error[SHD106] `one` is not a choice" in output
    assert "SHD409" not in output


def test_of_two_specs_the_one_whose_targets_name_the_checkpoint(folder: Folder) -> None:
    text = SPEC.replace("name: tiny", "name: also").replace("checkpoint: tiny", "checkpoint: else")
    (folder.path / "specs" / "also.yaml").write_text(text)
    chosen = "specs/tiny.yaml was taken: its targets name this checkpoint; specs/also.yaml would answer too"
    assert lines(TINY)[-1] == chosen
    other = write_table("other")
    assert lines(other)[-1] == ("specs/also.yaml was taken: it has the fewest errors; specs/tiny.yaml would answer too")
    assert f"{TINY}: {chosen}" in lines(TABLES)


def test_of_two_specs_the_one_with_the_fewest_errors(folder: Folder) -> None:
    text = SPEC.replace("name: tiny", "name: also").replace("o_proj", "wo")
    (folder.path / "specs" / "also.yaml").write_text(text.partition("targets:")[0])
    stops = SPEC.replace("name: tiny", "name: stops").replace("num_heads", "n_head")
    (folder.path / "specs" / "a_stops.yaml").write_text(stops.partition("targets:")[0])
    output = invoke("verify", write_table("other")).output
    assert "clean by specs/tiny.yaml" in output
    assert "it has the fewest errors; specs/a_stops.yaml, specs/also.yaml would answer too" in output


def test_a_table_that_states_its_architecture_beside_the_config(folder: Folder) -> None:
    config = {key: value for key, value in CONFIG.items() if key != "architectures"}
    TINY.write_text(json.dumps({"architecture": "TinyForCausalLM", "config": config, "tensor_groups": TENSORS}))
    assert "clean by specs/tiny.yaml" in invoke("verify", TINY).output
    found, _ = read_checkpoint(TINY)
    assert found is not None
    assert found.architectures == ("TinyForCausalLM",)


def test_a_directory_of_weights_is_one_checkpoint(folder: Folder) -> None:
    (folder.path / "saved").mkdir()
    (folder.path / "saved" / "config.json").write_text(json.dumps(CONFIG))
    output = invoke("verify", "saved", TINY, "--format", "concise").output
    assert "-                saved                              -       -  -           1 error" in output
    assert "error[SHD406] saved: has no tensors" in output


@pytest.mark.parametrize("again", [[TINY], [TABLES], [TINY, TABLES]])
def test_a_checkpoint_named_twice_is_compared_once(folder: Folder, again: list[Path]) -> None:
    assert lines(TINY, *again) == lines(TINY)


def test_the_recorded_checkpoints_are_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    result = invoke("verify", TABLES)
    assert result.exit_code == 0
    assert f"no errors; {len(list((ROOT / TABLES).glob('*.json')))} checkpoints, " in result.output


def test_runs_of_sizes(folder: Folder) -> None:
    folder.edit("axes: {heads: {size: n_heads}}", "axes: {heads: {size: n_heads, if_uneven: spread}}")
    shutil.copy(TINY, TABLES / "same.json")
    [first, *_] = lines(TABLES)[2:]
    assert "  1..8      clean" in first
