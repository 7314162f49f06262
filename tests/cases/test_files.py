"""Cases about the files of a checkpoint: what its index says, and bytes that are not as they should be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner

from shardc.checkpoint import read_checkpoint
from shardc.cli import shardc
from shardc.cli.specs import evidence_of
from tests.cases.files import probe, write_files
from tests.cases.support import Case, check_case, read_cases, words
from tests.seeds.model import Model

CASES = {case.id: case for case in read_cases() if case.files}
ERRORS = [case for case in CASES.values() if case.expect["result"] == "error"]
ModelOf = Callable[[Case], Model]


def test_these_are_all() -> None:
    assert [id.partition("-")[0] for id in CASES] == ["M5", "M6", "M7", "M10", "M11", "Q1"]


@pytest.mark.parametrize("case", ERRORS, ids=[case.id for case in ERRORS])
def test_the_code_and_the_words(case: Case, tmp_path: Path) -> None:
    checkpoint, findings = read_checkpoint(write_files(tmp_path / "saved", case), tp=case.sizes["tp"])
    assert checkpoint is None
    assert {finding.code for finding in findings} == {case.expect["code"]}
    assert [word for word in case.expect["must_mention"] if word not in words(findings)] == []


@pytest.mark.parametrize("case", ERRORS, ids=[case.id for case in ERRORS])
def test_the_generated_loader_refuses_too(
    case: Case, model_of: ModelOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = model_of(case).module
    directory = write_files(tmp_path / "saved", case)
    monkeypatch.setattr(torch, "empty", None)
    with pytest.raises(module.rt.ShardError) as refused:
        module.load(directory, mesh=case.mesh)
    assert {code for code, _ in refused.value.findings} == {case.expect["code"]}


def test_the_index_decides_and_the_other_copy_is_a_warning(model_of: ModelOf, tmp_path: Path) -> None:
    case = CASES["M7-overlay-duplicate"]
    name, overlay = "layers.0.attn.wo_b.scale", case.expect["read_from"]
    directory = write_files(tmp_path / "saved", case)
    checkpoint, [warning] = read_checkpoint(directory)
    assert checkpoint is not None
    assert ("read", f"`{name}` of {overlay}") in [(value.name, value.value) for value in warning.values]
    assert overlay == "model-overlay-00001.safetensors"
    assert (warning.code, warning.severity) == (case.expect["warning"], "warning")
    assert [file for file in case.files if file not in words([warning])] == []
    with pytest.warns(UserWarning, match=f"SHD413: model-00001-of-00001.safetensors holds {name} too, .* {overlay}"):
        loaded = model_of(case).module.load(directory, mesh=case.mesh)
    assert loaded[name].tolist() == [100, 101, 102, 103]
    assert loaded["layers.0.attn.wo_b"].tolist() == [0, 1, 2, 3]


def test_without_the_index_a_tensor_in_two_files_is_an_error(model_of: ModelOf, tmp_path: Path) -> None:
    case = CASES["M7-overlay-duplicate"]
    directory = write_files(tmp_path / "saved", case)
    (directory / "model.safetensors.index.json").unlink()
    checkpoint, [finding] = read_checkpoint(directory)
    assert (checkpoint, finding.code, finding.severity) == (None, case.expect["without_index"], "error")
    module = model_of(case).module
    with pytest.raises(module.rt.ShardError) as refused:
        module.load(directory, mesh=case.mesh)
    assert refused.value.code == case.expect["without_index"] == "SHD407"


def test_a_header_of_100000_bytes_is_read_to_its_end(model_of: ModelOf, tmp_path: Path) -> None:
    case = CASES["M11-header-100000"]
    directory = write_files(tmp_path / "saved", case)
    checkpoint, findings = read_checkpoint(directory)
    assert checkpoint is not None and findings == []
    start, stop = case.expect["header_range"]
    assert (directory / "model.safetensors").read_bytes()[start:stop].endswith(b" " * 8)
    assert check_case(case.spec, case.config, evidence_of(checkpoint, "saved").headers, case.sizes) == []
    module = model_of(case).module
    header = module.rt.read_headers(directory)["w"]
    assert (header.begin, header.end) == (stop, stop + 2 * 852) == (100_008, 101_712)
    loaded = module.load(directory, mesh=case.mesh)
    assert torch.equal(loaded["w"], probe(case.tensors)["w"].to(torch.bfloat16))


@pytest.mark.parametrize(
    ("arguments", "asks"),
    [(["plan", "{spec}", "--checkpoint", "{saved}", "--tp", "8"], True), (["verify", "{spec}", "{saved}"], False)],
    ids=["plan", "verify"],
)
def test_the_commands_refuse_files_of_four_ranks(arguments: list[str], asks: bool, tmp_path: Path) -> None:
    case = CASES["Q1-sharded-state-tp-differs"]
    saved = write_files(tmp_path / "saved", case)
    run = CliRunner().invoke(shardc, [one.format(spec=case.spec, saved=saved) for one in arguments])
    assert run.exit_code == 1
    assert f"error[SHD412]: {saved}: is cut for 4 ranks already{', and tp=8 is asked' if asks else ''}\n" in run.output
    assert "point at the original checkpoint, or reshard" in run.output
