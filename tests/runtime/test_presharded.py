"""Loading a rank's own files, and refusing those of another cut."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import shardc.runtime as rt
from tests.store.support import TINY, files, make, same_tensors, shard

from .stores import Store
from .tiny_model import SPEC, equal, mesh

FILE = "model-00001-of-00001.safetensors"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With `original`, a checkpoint, and `cut`, the files of its 4 ranks."""
    return make(tmp_path)


def load(
    directory: Path, tp: tuple[int, int] = (3, 4), spec: rt.Spec = SPEC, **options: Any
) -> dict[str, torch.Tensor]:
    return rt.load(spec, directory, mesh(tp), **options)


def refusal(directory: Path, **options: Any) -> tuple[tuple[str, str], ...]:
    with pytest.raises(rt.ShardError) as caught:
        load(directory, **options)
    return caught.value.findings


def edit(path: Path, change: Callable[[Any], object]) -> None:
    """Changes a manifest."""
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


def test_casts_as_from_the_original(folder: Path) -> None:
    loaded = load(folder / "cut", dtype=torch.float16)
    assert loaded["qkv.weight"].dtype == torch.float16
    assert loaded["A_log"].dtype == torch.float32
    assert equal(loaded["qkv.weight"], load(folder / "original", dtype=torch.float16)["qkv.weight"])


def test_several_ranks_in_one_pass(folder: Path) -> None:
    meshes = [mesh((rank, 4)) for rank in (2, 0, 3)]
    loaded, expected = (rt.load_ranks(SPEC, folder / name, meshes) for name in ("cut", "original"))
    assert all(same_tensors(one, other) for one, other in zip(loaded, expected, strict=True))
    shutil.rmtree(folder / "cut" / "rank-1")
    with pytest.raises(rt.ShardError, match=r"^SHD417: \S+ has no rank-1/rank\.json"):
        rt.load_ranks(SPEC, folder / "cut", [mesh((rank, 4)) for rank in (0, 1)])


def test_from_a_store(folder: Path) -> None:
    """Nothing but the manifests and this rank's own file is asked for."""
    store = Store({f"cut/{name}": data for name, data in files(folder / "cut").items()})
    loaded = rt.load(SPEC, "cut", mesh((3, 4)), filesystem=store)
    assert same_tensors(loaded, load(folder / "original"))
    assert {name for name, _, _ in store.asked} == {"shardc.json", "config.json", "rank.json", FILE}
    del store.files[f"cut/rank-3/{FILE}"]
    with pytest.raises(rt.ShardError, match=r"^SHD406: model-00001-of-00001\.safetensors: No such file or directory$"):
        rt.load(SPEC, "cut", mesh((3, 4)), filesystem=store)


def test_progress_counts_local_bytes(folder: Path) -> None:
    seen: list[tuple[int, int]] = []
    loaded = load(folder / "cut", progress=lambda done, total: seen.append((done, total)))
    del loaded["lm_head.weight"]
    assert seen[-1] == (sum(tensor.nbytes for tensor in loaded.values()),) * 2


@pytest.mark.parametrize(
    ("tp", "asked", "options"), [((0, 1), "tp=1", "--tp 1"), ((0, 2), "tp=2", "--tp 2"), ((5, 8), "tp=8", "--tp 8")]
)
def test_another_tp(folder: Path, tp: tuple[int, int], asked: str, options: str, no_allocation: None) -> None:
    cut = folder / "cut"
    text = (
        f"{cut} is cut for tp=4 already, and {asked} is asked: cut it anew with `shardc reshard {cut} {options} -o OUT`"
    )
    assert refusal(cut, tp=tp) == (("SHD412", text),)


def test_another_mesh_dim(folder: Path) -> None:
    with pytest.raises(
        rt.ShardError, match=r"is cut for tp=4 already, and tp=4, ep=2 is asked: .* --tp 4 --ep 2 -o OUT"
    ):
        rt.load(SPEC, folder / "cut", mesh((0, 4), (0, 2)))


def test_a_mesh_dim_without_an_option_of_its_own(folder: Path) -> None:
    spec = replace(SPEC, mesh=("tp", "moe_tp"))
    with pytest.raises(rt.ShardError, match=r"reshard \S+ --tp 4 --mesh moe_tp=2 -o OUT"):
        rt.load(spec, folder / "cut", rt.mesh(spec.mesh, extra={"tp": (0, 4), "moe_tp": (0, 2)}))


def test_another_spec(folder: Path) -> None:
    cut = folder / "cut"
    edit(cut / "shardc.json", lambda data: data.update(spec="tiny", digest="77d0c2b0a1f3"))
    text = f"{cut} was cut by tiny 77d0c2b0a1f3, and this is tiny e6603e3230d4: load it with the module it was cut by, or cut the original anew"
    assert refusal(cut, spec=replace(SPEC, name="tiny", digest="e6603e3230d4")) == (("SHD415", text),)


def test_a_rank_of_another_checkpoint(folder: Path) -> None:
    path = folder / "original" / "a.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    other = shard(TINY, folder / "original", folder / "other", {"tp": 4})
    shutil.rmtree(folder / "cut" / "rank-3")
    shutil.copytree(other / "rank-3", folder / "cut" / "rank-3")
    sources = [json.loads((one / "shardc.json").read_text())["source"] for one in (other, folder / "cut")]
    text = f"{folder / 'cut'}: rank-3 is of another run than shardc.json: source {sources[0]} beside {sources[1]}"
    assert refusal(folder / "cut") == (("SHD416", text),)


def test_a_file_of_another_run(folder: Path) -> None:
    """The same names, shapes and sizes, in the place of the file that the manifest is about."""
    path = folder / "original" / "a.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    other = shard(TINY, folder / "original", folder / "other", {"tp": 4})
    shutil.copy(other / "rank-3" / FILE, folder / "cut" / "rank-3" / FILE)
    text = f"rank-3/{FILE} is not the file that rank-3/rank.json is about"
    assert refusal(folder / "cut") == (("SHD416", text),)


def test_a_rank_that_is_missing(folder: Path) -> None:
    shutil.rmtree(folder / "cut" / "rank-3")
    text = f"{folder / 'cut'} has no rank-3/rank.json: the rank was never cut, or its run was stopped; `shardc shard` with the same options writes what is missing"
    assert refusal(folder / "cut") == (("SHD417", text),)
    assert load(folder / "cut", (2, 4))["A_log"].tolist() == [4.0, 5.0]


def test_a_file_that_was_cut_off(folder: Path) -> None:
    path = folder / "cut" / "rank-3" / FILE
    size = path.stat().st_size
    os.truncate(path, size - 4)
    text = f"rank-3/{FILE}: {size - 4} bytes in the file, {size} when it was written"
    assert refusal(folder / "cut") == (("SHD406", text),)
    path.unlink()
    assert refusal(folder / "cut") == (("SHD406", f"{FILE}: No such file or directory"),)


def test_regions_that_are_not_the_plans(folder: Path, no_allocation: None) -> None:
    """An edited manifest, or a runtime that deals otherwise than the one that cut."""

    def change(data: Any) -> None:
        at = data["tensors"]["A_log"]
        assert data["layouts"][at] == [[8], [[[6, 8, 0]]]]
        data["layouts"][at] = [[8], [[[0, 2, 0]]]]

    edit(folder / "cut" / "rank-3" / "rank.json", change)
    assert refusal(folder / "cut") == (("SHD415", "A_log in rank-3 is (((0, 2, 0),),) of [8], not (((6, 8, 0),),)"),)


def test_tensors_that_the_rank_lacks(folder: Path) -> None:
    path = folder / "cut" / "rank-3" / "rank.json"
    edit(path, lambda data: data["tensors"].pop("A_log"))
    assert refusal(folder / "cut") == (("SHD415", "A_log is not in rank-3"),)
    edit(path, lambda data: data["tensors"].update(A_log=0, more=0))
    assert refusal(folder / "cut") == (("SHD407", "rank-3/rank.json has more, which is in none of its files"),)


def test_an_engines_files_are_refused_as_before(tmp_path: Path) -> None:
    (tmp_path / "model-rank-0-part-0.safetensors").touch()
    assert refusal(tmp_path)[0][0] == "SHD412"
