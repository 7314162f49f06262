"""`shardc shard`, `merge` and `reshard`: what they write, what they say, and what they refuse."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.cli.support import CONFIG, OUTSIDE, Folder, invoke, script
from tests.store.support import files


@pytest.fixture
def checkpoint(folder: Folder) -> Path:
    """`model`, a checkpoint of the spec."""
    directory = folder.path / "model"
    directory.mkdir()
    tensors = {}
    for layer in range(2):
        tensors[f"layers.{layer}.q_proj.weight"] = (torch.arange(512.0) + 512 * layer).reshape(32, 16).bfloat16()
        tensors[f"layers.{layer}.o_proj.weight"] = (torch.arange(512.0) - 512 * layer).reshape(16, 32).bfloat16()
    save_file(tensors, directory / "model.safetensors")
    (directory / "config.json").write_text(json.dumps(CONFIG))
    return directory


def test_there_anew_and_back(checkpoint: Path) -> None:
    result = invoke("shard", "model", "-o", "cut", "--tp", "4", "--jobs", "1")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "cut: 4 ranks of 4, 4 files, 6144 B\n"
    local = load_file("cut/rank-3/model-00001-of-00001.safetensors")
    whole = load_file("model/model.safetensors")
    assert torch.equal(local["layers.1.q_proj.weight"], whole["layers.1.q_proj.weight"][24:])
    assert torch.equal(local["layers.1.o_proj.weight"], whole["layers.1.o_proj.weight"][:, 24:])
    result = invoke("reshard", "cut", "-o", "anew", "--tp", "2", "--jobs", "1")
    assert (result.exit_code, result.stdout) == (0, "anew: 2 ranks of 2, 2 files, 5120 B\n")
    result = invoke("merge", "anew", "-o", "merged", "--jobs", "1")
    assert (result.exit_code, result.stdout) == (0, "merged: 2 ranks merged to 1 file, 4096 B; replicas are equal\n")
    assert files(Path("merged")) == files(Path("model"))


def test_in_several_processes(checkpoint: Path) -> None:
    assert invoke("shard", "model", "-o", "one", "--tp", "4", "--jobs", "1").exit_code == 0
    result = invoke("shard", "model", "-o", "cut", "--tp", "4", "--jobs", "2")
    assert (result.exit_code, result.stdout) == (0, "cut: 4 ranks of 4, 4 files, 6144 B\n")
    assert files(Path("cut")) == files(Path("one"))
    assert invoke("merge", "cut", "-o", "merged", "--jobs", "2").exit_code == 0


def test_some_ranks_and_the_rest(checkpoint: Path) -> None:
    result = invoke("shard", "model", "-o", "cut", "--tp", "4", "--ranks", "0-1,3", "--jobs", "1")
    assert result.stdout == "cut: 3 ranks of 4, 3 files, 4608 B\nstill to be written: ranks 2\n"
    result = invoke("merge", "cut", "-o", "merged")
    assert (result.exit_code, Path("merged").exists()) == (1, False)
    assert "error[SHD417]: cut has no rank-2/rank.json: the rank was never cut, or its run was stopped" in result.stdout
    result = invoke("shard", "model", "-o", "cut", "--tp", "4", "--jobs", "1")
    assert result.stdout == "cut: 4 ranks of 4, 4 files, 6144 B; 4608 B of it was there already\n"
    result = invoke("merge", "cut", "-o", "merged", "--jobs", "1")
    assert result.exit_code == 0


@pytest.mark.parametrize(("number", "count"), [("RANK", "WORLD_SIZE"), ("SLURM_PROCID", "SLURM_NTASKS")])
def test_processes_of_a_launcher_share_the_ranks(checkpoint: Path, number: str, count: str) -> None:
    """At once, into one directory, without a word to each other."""
    command = [str(Path(sys.executable).parent / "shardc"), "shard", "model", "-o", "cut", "--tp", "8"]
    running = [
        subprocess.Popen(command, env={**OUTSIDE, number: str(rank), count: "3"}, stdout=subprocess.PIPE, text=True)
        for rank in range(3)
    ]
    said = sorted(process.communicate()[0].splitlines()[0] for process in running)
    assert [process.returncode for process in running] == [0, 0, 0]
    assert said == ["cut: 2 ranks of 8, 2 files, 2048 B", *["cut: 3 ranks of 8, 3 files, 3072 B"] * 2]
    assert invoke("merge", "cut", "-o", "merged", "--jobs", "1").exit_code == 0
    assert files(Path("merged")) == files(Path("model"))


@pytest.mark.full
def test_under_torchrun(checkpoint: Path) -> None:
    shardc = str(Path(sys.executable).parent / "shardc")
    launch = [sys.executable, "-m", "torch.distributed.run", "--no-python", "--nproc-per-node", "2", "--standalone"]
    subprocess.run([*launch, shardc, "shard", "model", "-o", "cut", "--tp", "4"], env=OUTSIDE, check=True)
    assert invoke("merge", "cut", "-o", "merged", "--jobs", "1").exit_code == 0
    assert files(Path("merged")) == files(Path("model"))


def test_vllms_names_and_small_files(checkpoint: Path) -> None:
    result = invoke("shard", "model", "-o", "cut", "--tp", "2", "--naming", "vllm", "--file-size", "3KB", "--jobs", "1")
    assert result.exit_code == 0
    assert sorted(path.name for path in Path("cut").glob("*.safetensors")) == [
        "model-rank-0-part-0.safetensors",
        "model-rank-1-part-0.safetensors",
    ]
    assert invoke("merge", "cut", "-o", "merged", "--jobs", "1").exit_code == 0
    assert files(Path("merged")) == files(Path("model"))


def test_torchs_layout_and_back(checkpoint: Path) -> None:
    invoke("shard", "model", "-o", "cut", "--tp", "2", "--jobs", "1")
    result = invoke("merge", "cut", "-o", "dcp", "--layout", "dcp", "--jobs", "1")
    assert (result.exit_code, result.stdout) == (0, "dcp: 2 ranks as a DCP checkpoint, 2 files, 4096 B\n")
    result = invoke("merge", "dcp", "-o", "whole", "--jobs", "1")
    assert (result.exit_code, result.stdout) == (0, "whole: 4 tensors of a DCP checkpoint in 1 file, 4096 B\n")
    assert invoke("shard", "whole", "-o", "again", "--tp", "2", "--jobs", "1").exit_code == 0
    result = invoke("merge", "dcp", "-o", "some", "--prefix", "layers.0.", "--jobs", "1")
    assert result.stdout == "some: 2 tensors of a DCP checkpoint in 1 file, 2048 B; 2 names left out\n"
    result = invoke("merge", "dcp", "-o", "none", "--prefix", "x.", "--jobs", "1")
    assert (result.exit_code, "error[SHD113]: dcp has no tensor whose name begins with 'x.'" in result.stdout) == (
        1,
        True,
    )


def test_a_mesh_that_does_not_work(checkpoint: Path) -> None:
    result = invoke("shard", "model", "-o", "cut", "--tp", "3")
    assert (result.exit_code, Path("cut").exists()) == (1, False)
    assert "error[SHD201]: 8 heads cannot be dealt to 3 tp ranks: 2.67 each" in result.stdout
    invoke("shard", "model", "-o", "cut", "--tp", "2", "--jobs", "1")
    result = invoke("reshard", "cut", "-o", "anew", "--tp", "3")
    assert (result.exit_code, Path("anew").exists()) == (1, False)
    assert "error[SHD201]: 8 heads cannot be dealt to 3 tp ranks" in result.stdout


def test_a_checkpoint_that_does_not_fit(checkpoint: Path) -> None:
    tensors = load_file("model/model.safetensors")
    save_file({**tensors, "extra": torch.ones(2)}, "model/model.safetensors")
    result = invoke("shard", "model", "-o", "cut", "--tp", "2")
    assert (result.exit_code, Path("cut").exists()) == (1, False)
    assert "error[SHD402]" in result.stdout


def test_a_spec_that_changed(checkpoint: Path, folder: Folder) -> None:
    invoke("shard", "model", "-o", "cut", "--tp", "2", "--jobs", "1")
    folder.edit("[heads * 4, hidden], shard: channel_rows", "[4 * heads, hidden], shard: column_parallel")
    result = invoke("reshard", "cut", "-o", "anew", "--tp", "4", "--jobs", "1")
    assert (result.exit_code, Path("anew").exists()) == (1, False)
    assert "error[SHD415]: cut was cut by tiny " in result.stdout
    assert invoke("merge", "cut", "-o", "merged", "--jobs", "1").exit_code == 0


def test_what_is_cut_is_not_a_checkpoint(checkpoint: Path) -> None:
    invoke("shard", "model", "-o", "cut", "--tp", "2", "--jobs", "1")
    for result in (
        invoke("shard", "cut", "-o", "more", "--tp", "4"),
        invoke("plan", "specs/tiny.yaml", "--checkpoint", "cut", "--tp", "4"),
    ):
        assert result.exit_code == 1
        assert "error[SHD412]: cut: is cut for tp=2 already" in result.stdout
        assert "`shardc merge cut -o OUT`" in result.stdout


def test_findings_for_programs(checkpoint: Path) -> None:
    invoke("shard", "model", "-o", "cut", "--tp", "2", "--ranks", "0", "--jobs", "1")
    result = invoke("merge", "cut", "-o", "merged", "--format", "json")
    [finding] = json.loads(result.stdout)["diagnostics"]
    assert (result.exit_code, finding["code"]) == (1, "SHD417")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["shard", "model", "-o", "cut", "--tp", "2", "--ranks", "0-2"], "rank 2 is outside 0..1"),
        (["shard", "model", "-o", "cut", "--ranks", "3-1"], "3-1 is no list of ranks, such as 0-3,6"),
        (["shard", "model", "-o", "cut", "--ranks", ""], " is no list of ranks, such as 0-3,6"),
        (["shard", "model", "-o", "cut", "--file-size", "5 bytes"], "5 bytes is no size, such as 5GB or 512MiB"),
        (["shard", "model", "-o", "cut", "--ep", "2"], "no axis of tiny is over ep"),
        (["shard", "model", "-o", "cut", "--mesh", "tp=2"], "tp has an option of its own: --tp 2"),
        (["shard", "model", "-o", "cut", "--mesh", "x=2"], "no axis of tiny is over x"),
        (["merge", "model", "-o", "specs"], "specs is not empty: give a new directory"),
        (["merge", "model", "-o", "x", "--prefix", "a"], "--prefix is for a DCP checkpoint"),
        (["reshard", "cut", "-o", "x"], "Directory 'cut' does not exist"),
    ],
)
def test_usage(checkpoint: Path, arguments: list[str], words: str) -> None:
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert words in result.stderr
    assert not Path("cut").exists()


def test_an_environment_that_cannot_be(checkpoint: Path) -> None:
    result = script("shard", "model", "-o", "cut", "--tp", "2", cwd=Path(), RANK="2", WORLD_SIZE="2")
    assert result.returncode == 2
    assert "RANK=2 and WORLD_SIZE=2 are no process and its number of processes" in result.stderr


def test_without_torch(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    result = invoke("merge", "model", "-o", "x")
    assert result.exit_code == 2
    assert "this command needs torch: pip install 'shardc[run]'" in result.stderr
