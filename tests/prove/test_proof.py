"""A proof that fails says where; a proof that holds says how well."""

from __future__ import annotations

from pathlib import Path

from shardc.cli.specs import resolve_file
from shardc.plan.resolved import Resolved
from shardc.prove.proof import Proof, prove
from tests.prove.support import quiet, subject
from tests.support import ROOT

Q_PROJ = "q_proj.weight: {shape: [heads * head_dim, hidden], shard: channel_rows, formats: linear}"


def edited(folder: Path, old: str, new: str) -> Resolved:
    """specs/llama.yaml with one edit."""
    text = (ROOT / "specs" / "llama.yaml").read_text()
    assert text.count(old) == 1
    (folder / "llama.yaml").write_text(text.replace(old, new))
    spec, findings = resolve_file(folder / "llama.yaml")
    assert spec is not None and not findings, findings
    return spec


def proved(spec: Resolved, folder: Path, **mesh: int) -> Proof:
    (folder / "checkpoint").mkdir()
    return prove(subject("llama", spec, folder / "checkpoint"), spec, mesh, quiet)


def test_one_rank_computes_the_very_same(tmp_path: Path) -> None:
    proof = proved(edited(tmp_path, "spec: 1\n", "spec: 1\n\n"), tmp_path, tp=1)
    assert proof.findings == []
    assert proof.difference is not None and proof.difference.absolute == 0.0


def test_query_rows_that_stand_for_other_heads(tmp_path: Path) -> None:
    """`[head_dim * heads]` for `[heads * head_dim]`: check has nothing against it."""
    tensors = "use: gqa\n    tensors:\n      " + Q_PROJ.replace("heads * head_dim", "head_dim * heads")
    proof = proved(edited(tmp_path, "use: gqa\n", f"{tensors}\n"), tmp_path, tp=2)
    (finding,) = proof.findings
    assert finding.code == "SHD701"
    assert finding.message.startswith(
        f"{tmp_path}/llama.yaml at tp=2: the ranks do not compute what the whole model does: max |difference| "
    )
    first, others, *layers = finding.notes
    assert [note.split(": max |difference| ")[0] for note in layers] == ["model.layers.0", "model.layers.1"]
    assert first.startswith("the first module that differs is model.layers.0.self_attn.o_proj, on rank 0: max ")
    at = "model.layers.0.self_attn"
    assert others == f"not compared before it, as each rank has its own part: {at}.q_proj, {at}.k_proj, {at}.v_proj"


def test_a_matrix_cut_along_the_other_dim(tmp_path: Path) -> None:
    """up_proj whole on each rank, beside a gate_proj that is cut."""
    up = "tensors: {up_proj.weight: {shape: [intermediate, hidden], shard: replicated}}"
    proof = proved(edited(tmp_path, "    use: gated_mlp\n", f"    use: gated_mlp\n    {up}\n"), tmp_path, tp=2)
    (finding,) = proof.findings
    assert finding.code == "SHD702"
    assert finding.message.endswith("failed in model.layers.0.mlp")
    assert finding.notes == (
        "RuntimeError: The size of tensor a (48) must match the size of tensor b (96) at non-singleton dimension 2",
    )
    assert len(proof.outcomes) == 2


def test_outputs_are_left_apart(tmp_path: Path) -> None:
    one = "outputs: {gate_up_proj.weight: {concat: [gate_proj.weight, up_proj.weight]}}"
    proof = proved(edited(tmp_path, "    use: gated_mlp\n", f"    use: gated_mlp\n    {one}\n"), tmp_path, tp=2)
    assert proof.findings == []
    assert "model.layers.0.mlp.up_proj.weight" in proof.outcomes[0].shapes


def test_a_mesh_that_the_plan_refuses_is_not_run(tmp_path: Path) -> None:
    proof = proved(edited(tmp_path, "kv_heads: {size: num_kv_heads, if_fewer: replicate}", "kv_heads: {size: num_kv_heads}"), tmp_path, tp=4)  # fmt: skip
    assert [finding.code for finding in proof.findings] == ["SHD201"]
    assert proof.findings[0].message == "2 kv_heads cannot be dealt to 4 tp ranks: 0.5 each"
    assert {value.name: value.source for value in proof.findings[0].values} == {
        "num_key_value_heads": f"{ROOT}/specs/small/llama.json:9",
        "head_dim": f"{ROOT}/specs/small/llama.json:10",
        "tp": "llama.json",
    }
    assert proof.outcomes == ()


def test_a_file_with_a_tensor_that_the_spec_does_not_know(tmp_path: Path) -> None:
    proof = proved(edited(tmp_path, "mlp_bias: {key: mlp_bias, else: false}", "mlp_bias: {key: mlp_bias, else: true}"), tmp_path, tp=2)  # fmt: skip
    assert {finding.code for finding in proof.findings} == {"SHD401"}
