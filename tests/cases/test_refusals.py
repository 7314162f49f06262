"""The cases that are refused: with which code, in which words, which sizes would do; and nothing is allocated."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from shardc.plan.evidence import Header
from tests.cases.files import probe, write_headers
from tests.cases.support import Case, check, read_cases, valid_tp, words
from tests.seeds.model import Model, write_checkpoint
from tests.support import plan, rows

CASES = [case for case in read_cases() if case.expect["result"] != "ok" and not case.files]
ERRORS = [case for case in CASES if case.expect["result"] == "error"]
SIZED = [case for case in CASES if "valid_tp" in case.expect]


def ids(cases: list[Case]) -> list[str]:
    return [case.id for case in cases]


@pytest.mark.parametrize("case", CASES, ids=ids(CASES))
def test_the_code(case: Case) -> None:
    assert case.expect["code"] in {finding.code for finding in check(case)}


@pytest.mark.parametrize("case", CASES, ids=ids(CASES))
def test_the_words(case: Case) -> None:
    text = words(check(case))
    assert [word for word in case.expect["must_mention"] if word not in text] == []


def test_all_that_does_not_divide_is_said_at_once() -> None:
    [case] = [case for case in CASES if case.id == "K4-ep3-error"]
    assert [finding.message for finding in check(case)] == [
        "256 experts cannot be dealt to 3 ep ranks: 85.33 each",
        "64 heads cannot be dealt to 3 tp ranks: 21.33 each",
    ]


@pytest.mark.parametrize("case", SIZED, ids=ids(SIZED))
def test_the_sizes_that_would_do(case: Case) -> None:
    assert valid_tp(case) == case.expect["valid_tp"]


@pytest.mark.parametrize("case", ERRORS, ids=ids(ERRORS))
def test_the_generated_loader_refuses_too(
    case: Case, model_of: Callable[[Case], Model], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = model_of(case).module
    directory = write_headers(tmp_path / "checkpoint", case.config, headers_of(case))
    monkeypatch.setattr(torch, "empty", None)
    with pytest.raises(module.rt.ShardError) as refused:
        module.load(directory, mesh=last_rank(case))
    assert case.expect["code"] in {code for code, _ in refused.value.findings}


def test_a_tensor_that_a_warning_speaks_of_is_loaded(model_of: Callable[[Case], Model], tmp_path: Path) -> None:
    [case] = [case for case in CASES if "loads" in case.expect]
    loaded = model_of(case).module.load(
        write_checkpoint(tmp_path / "checkpoint", case.config, probe(case.tensors)), mesh=case.mesh
    )
    assert case.expect["loads"] == ["language_model.lm_head.weight"]
    head, embedding = loaded["language_model.lm_head.weight"], loaded["language_model.model.embed_tokens.weight"]
    assert head is not embedding
    assert head.tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]]


def headers_of(case: Case) -> dict[str, Header]:
    """The case's tensors, and the others that the spec expects where the file is not what is wrong."""
    if case.headers is not None or case.expect["code"] in ("SHD109", "SHD110"):
        return dict(case.tensors)
    whole = plan(case.spec.read_text(), case.config, dict.fromkeys(case.sizes, 1))
    expected = {name: (dtype, shape) for name, (shape, _, dtype, _) in rows(whole, {}).items()}
    assert {name: shape for name, (_, shape) in case.tensors.items()}.items() <= {
        name: shape for name, (_, shape) in expected.items()
    }.items()
    return expected


def last_rank(case: Case) -> dict[str, tuple[int, int]]:
    return {name: (size - 1, size) for name, (_, size) in case.mesh.items()}
