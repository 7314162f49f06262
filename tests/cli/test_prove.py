"""`shardc prove`: a row a model, findings under it, and what can't be proved said before anything runs."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest

from shardc.prove.subject import made_up
from tests.cli.support import invoke
from tests.prove.support import SMALL, spec_of
from tests.support import ROOT

LLAMA = ROOT / "specs" / "llama.yaml"


def test_a_small_config_by_a_path(tmp_path: Path) -> None:
    result = invoke("prove", LLAMA, "--config", SMALL / "llama.json", "--tp", "4")
    assert result.exit_code == 0
    heading, _, row = result.stdout.splitlines()
    assert heading == "spec   model             config  tp  ep  max difference  of the largest  seconds"
    assert re.fullmatch(r"llama  LlamaForCausalLM  llama    4   1 +\d\.\de-\d\d +\d\.\de-\d\d +\d+\.\d", row)
    assert result.stderr.splitlines()[0] == "llama: LlamaForCausalLM (llama), 78,144 parameters"
    assert sorted(result.stderr.splitlines()[1:]) == [f"  rank {rank} of 4: done" for rank in range(4)]


def test_a_checkpoint_with_its_own_weights(tmp_path: Path) -> None:
    made_up(SMALL / "llama.json", spec_of(SMALL / "llama.json"), tmp_path)
    result = invoke("prove", LLAMA, "--checkpoint", tmp_path)
    row = result.stdout.splitlines()[2].split()
    assert (result.exit_code, row[:5]) == (0, ["llama", "LlamaForCausalLM", tmp_path.name, "2", "1"])


def test_a_mesh_that_the_plan_refuses(tmp_path: Path) -> None:
    result = invoke("prove", LLAMA, "--config", SMALL / "llama.json", "--tp", "3")
    assert result.exit_code == 1
    assert "error[SHD201]: 2 kv_heads cannot be dealt to 3 tp ranks" in result.stdout
    assert "rank" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["lama"], "specs/lama.yaml does not exist; SPEC is a file, or the name of one in specs/"),
        ([LLAMA, "--config", SMALL / "llama.json", "--checkpoint", SMALL], "give --config or --checkpoint, not both"),
        ([LLAMA, "--ep", "2"], "no axis of llama is over ep"),
        ([ROOT / "specs" / "qwen1.yaml"], "no small config of qwen1: give --config or --checkpoint"),
        ([LLAMA, "--config", "{folder}/none.json"], "none.json: a config.json has `architectures` and `model_type`"),
        ([LLAMA, "--config", "{folder}/broken.json"], "broken.json: Expecting value: line 1 column 1 (char 0)"),
        ([LLAMA, "--config", "{folder}/large.json"], "the config is of a model of 70.6 billion parameters; give one with smaller sizes"),
        ([LLAMA, "--config", "{folder}/odd.json"], "cannot make a LlamaForCausalLM of the config: "),
        ([LLAMA, "--checkpoint", "{folder}/packed"], "config.json: a quantised model computes something else; give one in BF16"),
        ([LLAMA, "--checkpoint", "{folder}/empty"], "cannot load {folder}/empty: OSError: "),
        ([LLAMA, "--config", "{folder}/unknown.json"], "has no model class LamaForCausalLM"),
    ],
)  # fmt: skip
def test_what_cannot_be_proved(arguments: list[object], words: str, tmp_path: Path) -> None:
    small = json.loads((SMALL / "llama.json").read_text())
    large = {"hidden_size": 8192, "intermediate_size": 28672, "num_hidden_layers": 80, "head_dim": 128}
    heads = {"num_attention_heads": 64, "num_key_value_heads": 8, "vocab_size": 128256}
    (tmp_path / "none.json").write_text("{}")
    (tmp_path / "broken.json").write_text("llama")
    (tmp_path / "large.json").write_text(json.dumps({**small, **large, **heads}))
    (tmp_path / "unknown.json").write_text(json.dumps({**small, "architectures": ["LamaForCausalLM"]}))
    (tmp_path / "odd.json").write_text(json.dumps({**small, "hidden_act": "fast"}))
    for name, extra in (("packed", {"quantization_config": {"quant_method": "fp8"}}), ("empty", {})):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(json.dumps({**small, **extra}))
    result = invoke("prove", *(str(one).format(folder=tmp_path) for one in arguments))
    assert (result.exit_code, result.stdout) == (2, "")
    assert words.format(folder=tmp_path) in result.stderr


def test_without_transformers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    result = invoke("prove", LLAMA)
    assert result.exit_code == 2
    assert "prove needs torch, safetensors, transformers: pip install 'shardc[prove]'" in result.stderr
