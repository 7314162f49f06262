"""Pull requests on a real repository of real specs: what each does, in words and classes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import jsonschema
import pytest

from tests.cli.support import Folder, invoke
from tests.diagnostics.sarif_schema import read_log
from tests.review.test_git import git
from tests.support import ROOT

SPECS = {"olmo2": ["olmo-2-7b"], "qwen3": ["qwen3-1.7b"]}
NORM = "      post_feedforward_layernorm.weight: {shape: [hidden], shard: replicated}\n"
SCHEMA = json.loads((ROOT / "schema" / "diff.v1.json").read_text())


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two published architectures with a checkpoint each, committed on main; a topic branch is checked out."""
    folder = tmp_path / "repository"
    (folder / "specs" / "checkpoints").mkdir(parents=True)
    for name, checkpoints in SPECS.items():
        shutil.copy(ROOT / "specs" / f"{name}.yaml", folder / "specs")
        for checkpoint in checkpoints:
            shutil.copy(ROOT / "specs" / "checkpoints" / f"{checkpoint}.json", folder / "specs" / "checkpoints")
    text = (folder / "specs" / "qwen3.yaml").read_text()
    targets = text.index("targets:")
    (folder / "specs" / "qwen3.yaml").write_text(
        text[:targets] + "targets:\n  - {checkpoint: qwen3-1.7b, tp: [1, 2, 4, 8]}\n"
    )
    git(folder, "init", "-q", "-b", "main")
    commit(folder)
    git(folder, "checkout", "-qb", "topic")
    monkeypatch.chdir(folder)
    return folder


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "a change")


def edit(spec: Path, old: str, new: str) -> None:
    text = spec.read_text()
    assert old in text
    spec.write_text(text.replace(old, new))


def classes(*arguments: str) -> dict[str, list[str]]:
    """The classes of each spec that changed; the output has the form of its schema."""
    result = invoke("diff", "--against", "main", "--format", "json", *arguments)
    data = json.loads(result.output)
    jsonschema.validate(data, SCHEMA)
    return {spec["name"]: spec["classes"] for spec in data["specs"]}


def test_a_symbol_is_renamed(repository: Path) -> None:
    edit(repository / "specs" / "olmo2.yaml", "num_heads", "n_query_heads")
    assert classes() == {"olmo2": ["equal"]}
    assert invoke("diff", "--against", "main").output == (
        "1 spec changed · 0 tensors changed, 0 rewritten (equal), 0 added, 0 removed, against main\n\n"
        "specs/olmo2.yaml: equal (SHD605)\n"
        "  all 6 meshes byte-identical\n\n"
        "  what                      field  before              after\n"
        "  ------------------------  -----  ------------------  ----------------------  -------------\n"
        "  config.name                      num_heads           n_query_heads           renamed\n"
        "  config.num_kv_heads.else         num_heads           n_query_heads           equal formula\n"
        "  config.head_dim.else             hidden / num_heads  hidden / n_query_heads  equal formula\n"
        "  axis heads                size   num_heads           n_query_heads           equal formula\n\n"
        "checks: 0 contracts hold · generated files current · 0 errors\n"
    )


def test_kv_heads_are_replicated(repository: Path) -> None:
    """As main has it, 8 KV heads are for 8 ranks at most; the pull request shares them, and claims it."""
    qwen3 = repository / "specs" / "qwen3.yaml"
    replicated = next(line for line in qwen3.read_text().split("\n") if line.strip().startswith("kv_heads:"))
    git(repository, "checkout", "-q", "main")
    edit(qwen3, replicated, replicated.replace(", if_fewer: replicate", ""))
    commit(repository)
    git(repository, "checkout", "-qB", "topic")
    edit(qwen3, replicated.replace(", if_fewer: replicate", ""), replicated)
    edit(qwen3, "tp: [1, 2, 4, 8]", "tp: [1, 2, 4, 8, 16]")
    assert classes() == {"qwen3": ["widens"]}
    text = invoke("diff", "--against", "main", "--format", "markdown").output
    assert "| `specs/qwen3.yaml` | tp=16 now loads; tp=1, 2, 4, 8 byte-identical | widens (SHD602) |" in text
    assert "| axis `kv_heads` | if_fewer | `error` | `replicate` |" in text
    assert "| `model.layers.*.self_attn.k_proj.weight` ×28 | kv_heads.if_fewer | `error` | `replicate` |" in text
    assert "Plans of <code>qwen3</code>: 4 of 5 unchanged" in text
    why = "`SHD201 8 kv_heads cannot be dealt to 16 tp ranks: 0.5 each`"
    assert f"| `qwen3-1.7b` | tp=16 | - | 219.3 MiB | now loads; before: {why} |" in text


def test_two_factors_are_swapped(repository: Path) -> None:
    edit(repository / "specs" / "olmo2.yaml", "{shape: [heads * head_dim]", "{shape: [head_dim * heads]")
    edit(
        repository / "specs" / "olmo2.yaml",
        "shard: channel_rows, collective: sum_of_squares}\n      k_norm",
        "shard: column_parallel, collective: sum_of_squares}\n      k_norm",
    )
    assert classes() == {"olmo2": ["layout"]}
    text = invoke("diff", "--against", "main", "--format", "markdown").output
    assert "| tp=2, 4, 8, 16, 32 lay bytes out differently; tp=1 byte-identical | layout (SHD601) |" in text
    assert (
        "| `model.layers.*.self_attn.q_norm.weight` ×32 | shape | `[heads * head_dim]` | `[head_dim * heads]` "
        "(same size, other storage order: each rank gets other rows) |"
    ) in text
    assert "| `tp rank 0: 2048, rows 0..2048` | `tp rank 0: 2048, rows 128 ranges of 16, every 32, from 0` |" in text


def test_a_tensor_is_dropped(repository: Path) -> None:
    edit(repository / "specs" / "olmo2.yaml", NORM, "")
    assert classes() == {"olmo2": ["narrows", "coverage"]}
    ignored = "ignore: [{name: '*.post_feedforward_layernorm.weight', because: not wanted}]\ntargets:"
    edit(repository / "specs" / "olmo2.yaml", "targets:", ignored)
    assert classes() == {"olmo2": ["coverage"]}
    output = invoke("diff", "--against", "main").output
    assert "  1 tensor pattern removed; all 6 meshes with other tensors, the rest byte-identical\n" in output
    assert "  model.layers.*.post_feedforward_layernorm.weight x32  shape" in output


def test_a_spec_is_indented(repository: Path) -> None:
    edit(repository / "specs" / "olmo2.yaml", "\n      ", "\n        ")
    assert classes() == {"olmo2": ["cosmetic"]}


def test_nothing_changed(repository: Path) -> None:
    result = invoke("diff", "--against", "main")
    assert (result.exit_code, result.output) == (0, "no spec changed, against main\n")


def test_against_the_last_commit_by_default(repository: Path) -> None:
    edit(repository / "specs" / "olmo2.yaml", NORM, "")
    commit(repository)
    assert invoke("diff").output == "no spec changed, against HEAD\n"
    assert "1 removed, against HEAD~1" in invoke("diff", "--against", "HEAD~1").output


def test_three_dots_leave_out_what_main_did_since(repository: Path) -> None:
    git(repository, "checkout", "-q", "main")
    edit(repository / "specs" / "qwen3.yaml", "tp: [1, 2, 4, 8]", "tp: [1, 2]")
    commit(repository)
    git(repository, "checkout", "-q", "topic")
    edit(repository / "specs" / "olmo2.yaml", "\n      ", "\n        ")
    assert classes() == {"olmo2": ["cosmetic"], "qwen3": ["widens"]}
    data = json.loads(invoke("diff", "--against", "main...", "--format", "json").output)
    assert [spec["name"] for spec in data["specs"]] == ["olmo2"]


def test_one_file_of_several(repository: Path) -> None:
    for name in SPECS:
        edit(repository / "specs" / f"{name}.yaml", "\n      ", "\n        ")
    assert classes("specs/qwen3.yaml") == {"qwen3": ["cosmetic"]}
    assert classes("specs") == {"olmo2": ["cosmetic"], "qwen3": ["cosmetic"]}


def test_from_a_folder_of_the_repository(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edit(repository / "specs" / "olmo2.yaml", "\n      ", "\n        ")
    monkeypatch.chdir(repository / "specs")
    data = json.loads(invoke("diff", "--against", "main", "--format", "json", ".").output)
    assert [(spec["before"]["file"], spec["after"]["file"]) for spec in data["specs"]] == [
        ("main:specs/olmo2.yaml", "olmo2.yaml")
    ]


def test_a_file_that_moved_is_the_same_spec(repository: Path) -> None:
    git(repository, "mv", "specs/olmo2.yaml", "specs/olmo_2.yaml")
    assert classes() == {"olmo2": ["cosmetic"]}


def test_a_spec_that_is_new_and_one_that_is_gone(repository: Path) -> None:
    (repository / "specs" / "olmo2.yaml").unlink()
    text = (repository / "specs" / "qwen3.yaml").read_text()
    (repository / "specs" / "qwen9.yaml").write_text(text.replace("name: qwen3\n", "name: qwen9\n"))
    assert classes() == {"olmo2": ["narrows"], "qwen9": ["widens"]}
    output = invoke("diff", "--against", "main").output
    assert "main:specs/olmo2.yaml: narrows (SHD603)\n  the spec is gone; all 6 meshes no longer load\n" in output
    assert "specs/qwen9.yaml: widens (SHD602)\n  new spec; " in output


def test_a_folder_against_a_folder(repository: Path) -> None:
    shutil.copytree(repository / "specs", repository / "old")
    edit(repository / "specs" / "olmo2.yaml", NORM, "")
    result = invoke("diff", "--against", "old", "specs", "--format", "json")
    data = json.loads(result.output)
    assert [(one["before"]["file"], one["classes"]) for one in data["specs"]] == [
        ("old/olmo2.yaml", ["narrows", "coverage"])
    ]


def test_a_new_target_is_tried_on_the_old_spec(repository: Path) -> None:
    """Its checkpoint is recorded in the pull request: the old spec would load it too, and only did not say so."""
    shutil.copy(
        ROOT / "specs" / "checkpoints" / "smollm2-135m.json", repository / "specs" / "checkpoints" / "other.json"
    )
    table = json.loads((repository / "specs" / "checkpoints" / "qwen3-1.7b.json").read_text())
    (repository / "specs" / "checkpoints" / "other.json").write_text(json.dumps(table))
    edit(repository / "specs" / "qwen3.yaml", "targets:", "targets:\n  - {checkpoint: other, tp: [1, 2]}")
    data = json.loads(invoke("diff", "--against", "main", "--format", "json").output)
    (spec,) = data["specs"]
    assert spec["classes"] == ["widens"]
    assert "other: tp=1, 2 newly claimed, byte-identical" in spec["effect"]
    assert data["checkpoints"] == [{"checkpoint": "other", "status": "added", "words": "310 tensors"}]


def test_a_recorded_checkpoint_that_changed(repository: Path) -> None:
    path = repository / "specs" / "checkpoints" / "olmo-2-7b.json"
    table = json.loads(path.read_text())
    table["config"]["hidden_size"] = 2048
    path.write_text(json.dumps(table))
    data = json.loads(invoke("diff", "--against", "main", "--format", "json").output)
    assert data["specs"] == []
    assert data["checkpoints"] == [{"checkpoint": "olmo-2-7b", "status": "changed", "words": "config: hidden_size"}]


@pytest.mark.parametrize(
    ("fail_on", "code"), [("", 0), ("layout", 1), ("narrows", 0), ("layout,narrows", 1), ("equal, layout", 1)]
)
def test_fail_on(repository: Path, fail_on: str, code: int) -> None:
    edit(repository / "specs" / "olmo2.yaml", "{shape: [heads * head_dim]", "{shape: [head_dim * heads]")
    edit(
        repository / "specs" / "olmo2.yaml",
        "shard: channel_rows, collective: sum_of_squares}\n      k_norm",
        "shard: column_parallel, collective: sum_of_squares}\n      k_norm",
    )
    assert invoke("diff", "--against", "main", "--fail-on", fail_on).exit_code == code


def test_a_spec_with_an_error_is_a_finding(repository: Path) -> None:
    edit(repository / "specs" / "olmo2.yaml", "[hidden], shard: replicated}", "[hiden], shard: replicated}")
    result = invoke("diff", "--against", "main")
    assert result.exit_code == 1
    assert (
        "specs/olmo2.yaml: narrows (SHD603)\n  the spec now has errors; all 6 meshes no longer load\n" in result.output
    )
    assert "specs/olmo2.yaml: SHD103 unknown name `hiden`" in result.output


def test_a_spec_whose_error_is_corrected(repository: Path) -> None:
    edit(repository / "specs" / "olmo2.yaml", "[hidden], shard: replicated}", "[hiden], shard: replicated}")
    commit(repository)
    edit(repository / "specs" / "olmo2.yaml", "[hiden], shard: replicated}", "[hidden], shard: replicated}")
    result = invoke("diff", "--against", "topic")
    assert result.exit_code == 0
    assert "the spec before has errors; all 6 meshes now load\n" in result.output
    assert "topic:specs/olmo2.yaml: SHD103 unknown name `hiden`" in result.output


def test_a_spec_that_is_no_yaml_any_more(repository: Path) -> None:
    (repository / "specs" / "olmo2.yaml").write_text("a: [")
    result = invoke("diff", "--against", "main", "--format", "json")
    assert result.exit_code == 1
    assert {spec["name"]: spec["classes"] for spec in json.loads(result.output)["specs"]} == {"olmo2": ["narrows"]}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--against", "nothing"), "neither a commit here nor a folder; fetch it first"),
        (("--against", "main", "nowhere"), "no *.yaml in nowhere, now or in main"),
        (("--against", "main", "/"), "is outside"),
        (("--against", "main", "--fail-on", "layuot"), "--fail-on layuot: no such class; classes are layout, narrows"),
        (("--against", "specs", "specs/olmo2.yaml"), "specs is a folder: give one folder to compare with it"),
    ],
)
def test_usage(repository: Path, arguments: tuple[str, ...], said: str) -> None:
    result = invoke("diff", *arguments)
    assert result.exit_code == 2
    assert said in result.output.replace("\n", " ")


def test_without_a_repository(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(folder.path.parent))
    result = invoke("diff")
    assert result.exit_code == 2
    assert "--against HEAD: fatal: not a git repository" in result.output


def test_code_scanning_and_annotations(repository: Path) -> None:
    """A spec that is gone has a place too: GitHub takes no result without one."""
    edit(repository / "specs" / "qwen3.yaml", "\n      ", "\n        ")
    (repository / "specs" / "olmo2.yaml").unlink()
    log = read_log(invoke("diff", "--against", "main", "--format", "sarif").output)
    found = [
        (one["ruleId"], one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])
        for one in log["runs"][0]["results"]
    ]
    assert sorted(found) == [("SHD603", "specs/olmo2.yaml"), ("SHD606", "specs/qwen3.yaml")]
    annotations = invoke("diff", "--against", "main", "--format", "github").output.splitlines()
    assert sorted(line.split(",line")[0] for line in annotations) == [
        "::notice title=shardc (SHD606),file=specs/qwen3.yaml",
        "::warning title=shardc (SHD603),file=specs/olmo2.yaml",
    ]
