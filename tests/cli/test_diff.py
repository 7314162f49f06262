"""Pull requests on a real repository of real specs: what each does, in words and classes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.changes import NORM, classes, commit, edit
from tests.cli.support import invoke
from tests.diagnostics.sarif_schema import read_log
from tests.review.test_git import git
from tests.support import ROOT

#: The kind of q_norm that its swapped factors have.
COLUMN_PARALLEL = tuple(
    f"shard: {kind}, collective: sum_of_squares}}\n      k_norm" for kind in ("channel_rows", "column_parallel")
)


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
    edit(repository / "specs" / "olmo2.yaml", *COLUMN_PARALLEL)
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
    edit(repository / "specs" / "olmo2.yaml", *COLUMN_PARALLEL)
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


def test_what_a_build_would_write(repository: Path) -> None:
    assert invoke("build").exit_code == 0
    commit(repository)
    edit(repository / "specs" / "olmo2.yaml", "{shape: [heads * head_dim]", "{shape: [head_dim * heads]")
    edit(repository / "specs" / "olmo2.yaml", *COLUMN_PARALLEL)
    data = json.loads(invoke("diff", "--format", "json").output)
    assert data["checks"]["stale"] == ["generated/olmo2.py", "specs/plans/olmo-2-7b.txt"]
    assert "· 2 files out of date (run `shardc build`) · 0 errors" in invoke("diff").output
    invoke("build")
    assert json.loads(invoke("diff", "--format", "json").output)["checks"]["stale"] == []
