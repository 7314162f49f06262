import re
from pathlib import Path

import pytest

import shardc.runtime as rt

from .tiny_model import SPEC, full_tensors, mesh, write_checkpoint


def test_loads_one_rank(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = write_checkpoint(tmp_path, full_tensors())
    assert rt.main(SPEC, [str(directory), "--tp-rank", "1", "--tp-size", "2", "--ep-rank", "3", "--ep-size", "4"]) == 0
    loaded = rt.load(SPEC, directory, mesh(tp=(1, 2), ep=(3, 4)))
    del loaded["lm_head.weight"]
    total = sum(tensor.nbytes for tensor in loaded.values())
    out = capsys.readouterr().out
    assert re.fullmatch(rf"9 tensors, {total} bytes on this rank, \d+\.\d\d s, \d+\.\d\d GB/s\n", out)


def test_casts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rt.main(SPEC, [str(write_checkpoint(tmp_path, full_tensors())), "--dtype", "BF16", "--device", "cpu"]) == 0
    loaded = rt.load(SPEC, tmp_path, mesh())
    default = {
        "embed.weight",
        "qkv.weight",
        "o_proj.weight",
        "o_proj.bias",
        *(name for name in loaded if "experts" in name),
    }
    total = sum(
        tensor.nbytes // (2 if name in default else 1) for name, tensor in loaded.items() if name != "lm_head.weight"
    )
    assert f" {total} bytes " in capsys.readouterr().out


def test_a_refusal_is_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rt.main(SPEC, [str(tmp_path)]) == 1
    captured = capsys.readouterr()
    assert captured.err == f"SHD113: {tmp_path} has no config.json\n"
    assert captured.out == ""


def test_a_size_needs_a_rank(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rt.main(SPEC, [str(tmp_path), "--ep-size", "4"]) == 1
    assert capsys.readouterr().err == "SHD410: ep_rank is needed: ep_size is 4\n"


def test_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        rt.main(SPEC, [])
    assert caught.value.code == 2
    assert "--ep-size SIZE" in capsys.readouterr().err
