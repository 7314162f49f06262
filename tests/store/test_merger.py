"""The original's files again; and ranks that do not say the same."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import shardc.runtime as rt
from shardc.runtime.headers import read_file_headers
from tests.runtime.tiny_model import full_tensors, write_checkpoint
from tests.store.support import SIZES, TINY, files, merge, shard


def change(folder: Path, rank: int, name: str, element: int) -> None:
    """Another byte in an element of a rank's tensor."""
    path = folder / "cut" / f"rank-{rank}" / "model-00001-of-00001.safetensors"
    header = read_file_headers(path)[name]
    size = {"F8_E4M3": 1, "BF16": 2, "F32": 4}[header.dtype]
    data = bytearray(path.read_bytes())
    data[header.begin + element * size] ^= 0x41
    path.write_bytes(data)


def test_byte_for_byte(folder: Path) -> None:
    assert files(merge(folder / "cut", folder / "merged")) == files(folder / "original")


@pytest.mark.parametrize("naming", ["shardc", "vllm"])
def test_on_two_mesh_dims(folder: Path, naming: str) -> None:
    shard(TINY, folder / "original", folder / "both", {"tp": 2, "ep": 2}, naming=naming, part_bytes=700)
    assert files(merge(folder / "both", folder / "merged")) == files(folder / "original")


def test_without_what_is_ignored(folder: Path) -> None:
    """The file that had it is written without it, and the index too."""
    shard(TINY, folder / "original", folder / "less", SIZES, keep_ignored=False)
    merge(folder / "less", folder / "merged")
    whole, found = rt.read_headers(folder / "original"), rt.read_headers(folder / "merged")
    assert found.keys() == whole.keys() - {"visual.x"}
    changed = [name for name, data in files(folder / "merged").items() if data != files(folder / "original")[name]]
    assert changed == ["a.safetensors", "model.safetensors.index.json"]


def test_a_copy_that_the_index_does_not_take(tmp_path: Path) -> None:
    """The file is written again without it."""
    full = full_tensors()
    original = write_checkpoint(tmp_path / "original", full)
    (original / "model.safetensors").rename(original / "a.safetensors")
    write_checkpoint(original, {"norm.weight": full["norm.weight"] + 1})
    weight_map = dict.fromkeys(full, "a.safetensors") | {"norm.weight": "model.safetensors"}
    (original / "model.safetensors.index.json").write_text(f'{{"weight_map": {weight_map}}}'.replace("'", '"'))
    with pytest.warns(UserWarning, match="SHD413"):
        shard(TINY, original, tmp_path / "cut", {"tp": 2})
    merged = merge(tmp_path / "cut", tmp_path / "merged")
    headers = rt.read_headers(merged)
    assert headers.keys() == full.keys()
    assert read_file_headers(merged / "a.safetensors").keys() == full.keys() - {"norm.weight"}


def test_replicas_that_differ(folder: Path) -> None:
    """The first element, in the whole tensor; norms are on four ranks, KV heads on two."""
    change(folder, 2, "norm.weight", 3)
    change(folder, 2, "norm.weight", 5)
    change(folder, 3, "qkv.weight", 8 * 8 + 7)
    norm = read_file_headers(folder / "original" / "a.safetensors")["norm.weight"].begin + 3 * 2
    qkv = read_file_headers(folder / "original" / "b.safetensors")["qkv.weight"].begin + (29 * 8 + 7) * 4
    with pytest.raises(rt.ShardError) as caught:
        merge(folder / "cut", folder / "merged")
    assert caught.value.findings == (
        ("SHD418", f"norm.weight[3] (byte {norm} of a.safetensors) is not the same in rank-0 and in rank-2"),
        ("SHD418", f"qkv.weight[29, 7] (byte {qkv} of b.safetensors) is not the same in rank-2 and in rank-3"),
    )
    assert not (folder / "merged" / "a.safetensors").exists()
    assert not (folder / "merged" / "b.safetensors").exists()
    assert list((folder / "merged").glob(".*")) == []


def test_padding_that_is_not_zero(folder: Path) -> None:
    change(folder, 3, "embed.weight", 8)
    change(folder, 1, "o_proj.bias", 2)
    with pytest.raises(rt.ShardError) as caught:
        merge(folder / "cut", folder / "merged")
    assert caught.value.findings == (
        ("SHD419", "embed.weight[1, 0] in rank-3 is padding, and is not zero"),
        ("SHD419", "o_proj.bias[2] in rank-1 is padding, and is not zero"),
    )


def test_a_rank_that_is_missing(folder: Path) -> None:
    (folder / "cut" / "rank-1" / "rank.json").unlink()
    (folder / "cut" / "rank-2" / "model-00001-of-00001.safetensors").unlink()
    with pytest.raises(rt.ShardError) as caught:
        merge(folder / "cut", folder / "merged")
    missing = f"{folder / 'cut'} has no rank-1/rank.json: the rank was never cut, or its run was stopped; `shardc shard` with the same options writes what is missing"
    assert caught.value.findings == (
        ("SHD417", missing),
        ("SHD406", "model-00001-of-00001.safetensors: No such file or directory"),
    )


def test_a_directory_of_something_else(folder: Path) -> None:
    with pytest.raises(rt.ShardError, match=r"^SHD113: \S+ has no shardc\.json: it is not what `shardc shard` writes$"):
        merge(folder / "original", folder / "merged")


def test_large_tensors_are_read_in_blocks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shardc.store.blocks.blocks.__defaults__", (24,))
    monkeypatch.setattr("shardc.store.writer.BLOCK_BYTES", 24)
    cut = shard(TINY, folder / "original", folder / "again", SIZES)
    assert files(cut) == files(folder / "cut")
    assert files(merge(cut, folder / "merged")) == files(folder / "original")
    change(folder, 2, "norm.weight", 7)
    with pytest.raises(rt.ShardError, match=r"norm\.weight\[7\] \(byte \d+ of a\.safetensors\) is not the same"):
        merge(folder / "cut", folder / "other")


def test_bits_of_floats_stay_as_they_are(tmp_path: Path) -> None:
    """NaNs with payloads, negative zeros and subnormals."""
    full = full_tensors()
    bits = torch.tensor([0x7FC00001, -0x3FFFFF, -0x80000000, 1, 0x7F800001, 0, -1, 2], dtype=torch.int32)
    original = write_checkpoint(tmp_path / "original", {**full, "A_log": bits.view(torch.float32)})
    shard(TINY, original, tmp_path / "cut", {"tp": 2})
    assert files(merge(tmp_path / "cut", tmp_path / "merged")) == files(original)
