"""Faults put into recorded tables: each is one finding that names the tensor and says what it looks like."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from shardc.cli.verify import command
from shardc.diagnostics import Diagnostic
from shardc.plan.evidence import Header
from tests.rules.support import SPECS, findings, recorded
from tests.support import ROOT

LLAMA, GLM = "llama-3.1-8b", "glm-5.3-flash-nvfp4"
UP = "model.layers.5.mlp.up_proj.weight"
EXPERT = "model.language_model.layers.7.mlp.experts.9.up_proj"
DOWN = "model.language_model.layers.7.mlp.experts.9.down_proj"


def one(name: str, headers: Mapping[str, Header]) -> Diagnostic:
    found = findings(name, headers)
    assert len(found) == 1, [f"{f.code} {f.message}" for f in found]
    return found[0]


def changed(name: str, changes: Mapping[str, Header | None]) -> dict[str, Header]:
    """The recorded headers with some replaced, added, or (None) dropped."""
    headers = {**recorded(name)[1], **changes}
    return {tensor: header for tensor, header in headers.items() if header is not None}


def renamed(name: str, old: str, new: str) -> dict[str, Header]:
    return {tensor.replace(old, new): header for tensor, header in recorded(name)[1].items()}


@pytest.mark.parametrize("name", SPECS)
def test_recorded_tables_are_covered(name: str) -> None:
    assert findings(name) == []


@pytest.mark.parametrize(("name", "tensor"), [(LLAMA, UP), (GLM, f"{EXPERT}.weight")], ids=["llama", "glm"])
def test_a_tensor_dropped(name: str, tensor: str) -> None:
    found = one(name, changed(name, {tensor: None}))
    assert (found.code, found.message) == ("SHD401", f"{tensor} is missing")
    assert found.help == "is the checkpoint complete? If the file may lack it, write `optional: true`"


@pytest.mark.parametrize("part", ["weight_scale", "weight_scale_2"])
def test_a_companion_dropped(part: str) -> None:
    found = one(GLM, changed(GLM, {f"{EXPERT}.{part}": None}))
    assert found.code == "SHD401"
    assert found.message == f"{EXPERT}.{part} is missing: {EXPERT}.weight is stored as nvfp4, which has it"


@pytest.mark.parametrize(("name", "tensor"), [(LLAMA, UP), (GLM, f"{EXPERT}.weight")], ids=["llama", "glm"])
def test_a_tensor_renamed(name: str, tensor: str) -> None:
    other = tensor.replace("up_proj", "upp_proj")
    header = recorded(name)[1][tensor]
    found = one(name, changed(name, {tensor: None, other: header}))
    assert (found.code, found.message) == ("SHD401", f"{tensor} is missing, {other} is there")
    assert found.help.startswith(f"renamed? {other} is {header[0]} {list(header[1])}")


def test_a_tensor_renamed_in_all_layers() -> None:
    found = one(LLAMA, renamed(LLAMA, ".up_proj.", ".w3."))
    assert found.code == "SHD401"


@pytest.mark.parametrize(("name", "tensor"), [(LLAMA, UP), (GLM, f"{DOWN}.weight"), (GLM, f"{DOWN}.weight_scale")])
def test_a_shape_transposed(name: str, tensor: str) -> None:
    dtype, shape = recorded(name)[1][tensor]
    found = one(name, changed(name, {tensor: (dtype, shape[::-1])}))
    assert found.code == "SHD403"
    assert found.message == f"{tensor}: shape {list(shape[::-1])} in the file, {list(shape)} by the spec"
    assert found.help == "transposed: the file stores the dims in another order (`dims: [in, out]` says so)"


@pytest.mark.parametrize(("name", "tensor"), [(LLAMA, UP), (GLM, f"{EXPERT}.weight")], ids=["llama", "glm"])
def test_a_shape_already_cut(name: str, tensor: str) -> None:
    dtype, (rows, cols) = recorded(name)[1][tensor]
    found = one(name, changed(name, {tensor: (dtype, (rows // 4, cols))}))
    assert (found.code, found.message.partition(":")[0]) == ("SHD403", tensor)
    assert found.help == "already cut for 4 ranks: this is a rank's shard, not the whole tensor"


def test_a_dtype_changed() -> None:
    found = one(LLAMA, changed(LLAMA, {UP: ("I8", (14336, 4096))}))
    assert (found.code, found.message) == (
        "SHD404",
        (
            f"{UP} is I8; legal: BF16 (dense), F16 (dense), F32 (dense), F8_E4M3 (fp8_block), F8_E4M3 (fp8_tensor), "
            "F8_E4M3 (fp8_channel), U8 (nvfp4), U32 (mlx_affine)"
        ),
    )


def test_a_dtype_of_a_quantised_weight_changed() -> None:
    shape = recorded(GLM)[1][f"{EXPERT}.weight"][1]
    found = one(GLM, changed(GLM, {f"{EXPERT}.weight": ("F8_E4M3", shape)}))
    assert (found.code, found.message) == ("SHD404", f"{EXPERT}.weight is F8_E4M3; legal: U8 (nvfp4)")


def test_a_dense_weight_beside_scales() -> None:
    found = one(GLM, changed(GLM, {f"{EXPERT}.weight": ("BF16", (2048, 4096))}))
    assert found.code == "SHD405"
    assert found.message == (
        f"{EXPERT}.weight is BF16, but {EXPERT}.weight_scale beside it belongs to a weight in nvfp4"
    )


@pytest.mark.parametrize(
    ("name", "tensor"), [(LLAMA, "model.layers.5.mlp.router.bias"), (GLM, f"{EXPERT}.lora_A")], ids=["llama", "glm"]
)
def test_an_extra_tensor(name: str, tensor: str) -> None:
    found = one(name, changed(name, {tensor: ("F32", (8,))}))
    assert (found.code, found.message) == ("SHD402", f"{tensor} F32 [8] is in the file, but no rule claims it")
    assert found.help.startswith("claim it in a group, or ignore it with a reason: ")


@pytest.mark.parametrize(
    ("name", "old", "new", "says"),
    [
        (LLAMA, "model.", "language_model.", "the prefix is language_model, not model (290 tensors)"),
        (GLM, "model.language_model.", "model.text_model.", "the prefix is model.text_model, not model.language_model"),
    ],
)
def test_a_prefix_shifted(name: str, old: str, new: str, says: str) -> None:
    found = one(name, renamed(name, old, new))
    assert found.code == "SHD401"
    assert says in found.message
    assert found.help == f"write `{new}` for `{old}` in `at:` and in names"


@pytest.mark.parametrize("name", SPECS)
def test_a_prefix_added(name: str) -> None:
    found = one(name, {f"wrapped.{tensor}": header for tensor, header in recorded(name)[1].items()})
    assert "the names begin with wrapped." in found.message
    assert found.help == "put `wrapped.` before the names here"


def test_a_prefix_taken_off() -> None:
    found = one(LLAMA, renamed(LLAMA, "model.", ""))
    assert "the names do not begin with model. (290 tensors)" in found.message


@pytest.mark.parametrize(
    ("name", "prefix", "message"),
    [
        (LLAMA, "model.layers.31.", "layer 31 is not in the file: 9 tensors missing"),
        (GLM, "model.language_model.layers.20.", "layer 20 is not in the file: "),
    ],
)
def test_a_whole_layer_missing(name: str, prefix: str, message: str) -> None:
    found = one(name, {t: h for t, h in recorded(name)[1].items() if not t.startswith(prefix)})
    assert (found.code, found.help) == ("SHD401", "is the checkpoint complete?")
    assert found.message.startswith(message)


def test_layers_missing_at_the_end() -> None:
    kept = {t: h for t, h in recorded(LLAMA)[1].items() if not t.startswith(("model.layers.30.", "model.layers.31."))}
    found = one(LLAMA, kept)
    assert found.message.startswith("layer 30..31 are not in the file: 18 tensors missing")
    assert found.notes == ("num_hidden_layers = 32 asks for them; the file has layer 0..29",)


def test_head_missing_though_untied() -> None:
    found = one(LLAMA, changed(LLAMA, {"lm_head.weight": None}))
    assert (found.code, found.message) == ("SHD401", "lm_head.weight is missing")
    assert found.help == "it may be absent only where the config ties it to model.embed_tokens.weight"


def test_head_present_though_tied() -> None:
    config = {**recorded(LLAMA)[0], "tie_word_embeddings": True}
    [found] = findings(LLAMA, config=config)
    assert (found.code, found.severity) == ("SHD411", "warning")
    assert found.message == "lm_head.weight is in the file, though the config ties it to model.embed_tokens.weight"


def test_a_large_table_full_of_faults_is_quick() -> None:
    headers = {f"x{i % 700}.{name}": header for i, (name, header) in enumerate(recorded(GLM)[1].items())}
    started = time.perf_counter()
    found = findings(GLM, headers)
    assert time.perf_counter() - started < 60, "names are compared one with another"
    assert {f.code for f in found} == {"SHD401", "SHD402"}


@pytest.mark.parametrize(
    "changes",
    [
        {UP: None},
        {UP: None, UP.replace("up", "upp"): ("BF16", (14336, 4096))},
        {UP: ("BF16", (4096, 14336))},
        {UP: ("BF16", (3584, 4096))},
        {UP: ("I8", (14336, 4096))},
    ],
    ids=["dropped", "renamed", "transposed", "cut", "dtype"],
)
def test_verify_exits_with_1(changes: Mapping[str, Header | None], tmp_path: Path) -> None:
    table = json.loads((ROOT / "specs" / "checkpoints" / f"{LLAMA}.json").read_text())
    groups = [{"name": n, "dtype": d, "shape": list(s)} for n, (d, s) in changed(LLAMA, changes).items()]
    path = tmp_path / "faulty.json"
    path.write_text(json.dumps({"config": table["config"], "tensor_groups": groups}))
    result = CliRunner().invoke(command, [str(ROOT / "specs" / "llama.yaml"), str(path)], catch_exceptions=False)
    assert result.exit_code == 1
    assert "1 error by" in result.output
