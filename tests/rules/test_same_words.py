"""What `shardc check` says of a spec, a generated module says of a checkpoint: the same code, the same words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from shardc.checkpoint import read_checkpoint
from shardc.diagnostics import Diagnostic
from shardc.plan.evidence import Evidence
from shardc.rules.check import check_spec
from shardc.source import loads
from tests.support import ROOT, generated, resolved

BAD = ROOT / "tests" / "bad"


def said_when_checked(folder: Path) -> Diagnostic:
    document, _ = loads((folder / "spec.yaml").read_text(), "spec.yaml")
    assert document is not None
    checkpoint, _ = read_checkpoint(folder / "checkpoints" / "example.json")
    assert checkpoint is not None
    evidence = Evidence("target example", checkpoint.config.data, checkpoint.headers or None)
    [finding] = check_spec(document, lambda name: (evidence, [])).findings
    return finding


def said_when_loaded(folder: Path, mesh: Mapping[str, int], tmp_path: Path) -> tuple[str, str]:
    """Code and text of the first rank that is refused."""
    module = generated(resolved((folder / "spec.yaml").read_text()), tmp_path)
    config: Mapping[str, Any] = json.loads((folder / "checkpoints" / "example.json").read_text())["config"]
    [(over, size)] = mesh.items()
    for rank in range(size):
        try:
            module.plan(config, {over: (rank, size)}, None)
        except module.rt.ShardError as error:
            code, text = error.findings[0]
            return code, text
    raise AssertionError("no rank was refused")


@pytest.mark.parametrize(
    ("name", "tp"),
    [
        ("SHD108_key", 1),
        ("SHD108_root", 1),
        ("SHD109_two_spellings", 1),
        ("SHD201_kv_heads", 8),
        ("SHD201_vocabulary", 2),
        ("SHD201_segments", 2),
        ("SHD201_fp8_granule", 16),
        ("SHD201_layers_differ", 4),
        ("SHD204_not_a_multiple", 1),
        ("SHD204_shared_group", 16),
        ("SHD212_part_of_a_group", 8),
        ("SHD212_second_block", 2),
        ("SHD213_nvfp4_width", 1),
        ("SHD301_conv", 8),
    ],
)
def test_says_the_same(name: str, tp: int, tmp_path: Path) -> None:
    finding = said_when_checked(BAD / name)
    assert said_when_loaded(BAD / name, {"tp": tp}, tmp_path) == (finding.code, finding.message)


@pytest.mark.parametrize(
    ("name", "mesh"), [("SHD201_stages", {"pp": 2}), ("SHD212_on_another_mesh_dim", {"moe_tp": 2})]
)
def test_says_the_same_of_other_mesh_dims(name: str, mesh: Mapping[str, int], tmp_path: Path) -> None:
    finding = said_when_checked(BAD / name)
    assert said_when_loaded(BAD / name, mesh, tmp_path) == (finding.code, finding.message)


@pytest.mark.parametrize("name", ["SHD110_head_dim", "SHD110_shape"])
def test_a_quotient_is_said_with_its_formula_when_checked(name: str, tmp_path: Path) -> None:
    finding = said_when_checked(BAD / name)
    code, text = said_when_loaded(BAD / name, {"tp": 1}, tmp_path)
    assert code == finding.code == "SHD110"
    assert finding.message.endswith(text)
