"""Ranks that hold uneven parts: 4 kv heads, 100 features and 130 words over three ranks."""

from __future__ import annotations

from pathlib import Path

from shardc.cli.specs import resolve_file
from shardc.prove.proof import prove
from shardc.prove.subject import made_up
from tests.prove.support import quiet

SPREAD = Path(__file__).parent / "spread"


def test_three_ranks_that_hold_uneven_parts(tmp_path: Path) -> None:
    spec, findings = resolve_file(SPREAD / "llama.yaml")
    assert spec is not None and not findings
    proof = prove(made_up(SPREAD / "llama.json", spec, tmp_path), spec, {"tp": 3}, quiet)
    assert [(finding.message, *finding.notes) for finding in proof.findings] == []
    assert proof.difference is not None and proof.difference.relative < 1e-5
    layer = "model.layers.0"
    assert [
        (
            one.shapes[f"{layer}.self_attn.q_proj.bias"],
            one.shapes[f"{layer}.self_attn.k_proj.bias"],
            one.shapes[f"{layer}.mlp.down_proj.weight"],
            one.shapes["lm_head.weight"],
        )
        for one in proof.outcomes
    ] == [((48,), (24,), (80, 34), (44, 80)), ((24,), (12,), (80, 33), (43, 80)), ((24,), (12,), (80, 33), (43, 80))]
