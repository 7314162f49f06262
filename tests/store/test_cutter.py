"""Ranks' files: what is in them, and what a run finds that was stopped."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

import shardc.runtime as rt
from shardc.store.cutter import Cutter, Order
from tests.runtime.tiny_model import SPEC, mesh
from tests.store.support import SIZES, TINY, files, merge, same_tensors, shard


def load(directory: Path, tp: tuple[int, int]) -> dict[str, torch.Tensor]:
    return rt.load(SPEC, directory, mesh(tp))


def test_the_files(made: Path) -> None:
    cut = made / "cut"
    ranks = [
        f"rank-{rank}/{name}"
        for rank in range(4)
        for name in ("model-00001-of-00001.safetensors", "model.safetensors.index.json", "rank.json")
    ]
    ignored = ["ignored/model-00001-of-00001.safetensors", "ignored/model.safetensors.index.json", "ignored/rank.json"]
    assert sorted(files(cut)) == sorted(["config.json", "shardc.json", "tokenizer.json", *ignored, *ranks])
    with safe_open(cut / "rank-3" / "model-00001-of-00001.safetensors", "pt") as file:
        assert file.metadata() == {
            "format": "pt",
            "shardc.spec": " ",
            "shardc.mesh": "tp=4",
            "shardc.source": json.loads((cut / "shardc.json").read_text())["source"],
            "shardc.folder": "rank-3",
        }
        assert file.get_tensor("embed.weight").tolist() == [[float(at) for at in range(72, 80)], [0.0] * 8, [0.0] * 8]
        assert file.get_tensor("o_proj.bias").tolist() == [0.0] * 8
        assert file.get_tensor("norm.weight").dtype == torch.bfloat16
        assert "visual.x" not in set(file.keys())
    assert load_file(cut / "ignored" / "model-00001-of-00001.safetensors")["visual.x"].tolist() == list(range(8))


def test_every_rank_loads_its_own(made: Path) -> None:
    for rank in range(4):
        assert same_tensors(load(made / "cut", (rank, 4)), load(made / "original", (rank, 4)))
    loaded = load(made / "cut", (1, 4))
    assert loaded["lm_head.weight"] is loaded["embed.weight"]
    assert loaded["norm.weight"].dtype == torch.float32


def test_the_index_of_a_rank_is_one_that_others_read(made: Path) -> None:
    headers = rt.read_headers(made / "cut" / "rank-2")
    assert headers["qkv.weight"].shape == (12, 8)
    assert headers.keys() == rt.read_headers(made / "original").keys() - {"visual.x"}


def test_tensors_begin_at_multiples_of_their_elements(folder: Path) -> None:
    out = shard(TINY, folder / "original", folder / "small", SIZES, part_bytes=300)
    assert len(list((out / "rank-0").glob("*.safetensors"))) == 4
    headers = rt.read_headers(out / "rank-0")
    sizes = {"F8_E4M3": 1, "BF16": 2, "F32": 4}
    assert [name for name, header in headers.items() if header.begin % sizes[header.dtype]] == []
    assert same_tensors(load(out, (0, 4)), load(folder / "original", (0, 4)))


def test_names_as_vllm_has_them(folder: Path) -> None:
    out = shard(TINY, folder / "original", folder / "vllm", SIZES, naming="vllm", part_bytes=1000)
    found = sorted(path.name for path in out.glob("*.safetensors"))
    assert found == [f"model-rank-{rank}-part-{part}.safetensors" for rank in range(4) for part in (0, 1)]
    assert same_tensors(load(out, (3, 4)), load(folder / "original", (3, 4)))


def test_what_the_spec_ignores_may_be_left_out(folder: Path) -> None:
    out = shard(TINY, folder / "original", folder / "less", SIZES, keep_ignored=False)
    assert not (out / "ignored").exists()
    assert same_tensors(load(out, (0, 4)), load(folder / "original", (0, 4)))


def test_a_run_goes_on_where_it_was(folder: Path) -> None:
    cut = folder / "cut"
    before = files(cut)
    (cut / "rank-1" / "rank.json").unlink()
    (cut / "rank-2" / "rank.json").unlink()
    (cut / "rank-2" / "model-00001-of-00001.safetensors").write_bytes(b"short")
    (cut / "rank-2" / ".model-00001-of-00001.safetensors.x1").write_bytes(b"left behind")
    (cut / "rank-2" / "model-00002-of-00002.safetensors").write_bytes(b"of other sizes")
    cutter = Cutter(Order(TINY, folder / "original", cut, SIZES))
    cutter.begin()
    assert cutter.missing() == [1, 2]
    seen: list[int] = []
    written = [cutter.write(name, seen.append) for name in cutter.folders(range(4))]
    assert [one.kept == one.bytes for one in written] == [True, True, False, True, True]
    assert written[2].kept == 0
    assert sum(seen) == sum(map(cutter.bytes_of, cutter.folders(range(4))))
    assert files(cut) == before


def test_other_sizes_of_files_replace_the_ranks_files(folder: Path) -> None:
    out = shard(TINY, folder / "original", folder / "cut", SIZES, part_bytes=1000)
    assert len(list((out / "rank-3").glob("*.safetensors"))) == 2
    assert same_tensors(load(out, (3, 4)), load(folder / "original", (3, 4)))


def test_some_ranks(folder: Path) -> None:
    out = shard(TINY, folder / "original", folder / "some", SIZES, ranks=[1, 3])
    assert sorted(path.name for path in out.iterdir() if path.is_dir()) == ["rank-1", "rank-3"]
    shard(TINY, folder / "original", out, SIZES, ranks=[0, 2])
    assert files(out) == files(folder / "cut")


def test_another_checkpoint_is_not_written_among_the_first(folder: Path) -> None:
    data = bytearray((folder / "original" / "a.safetensors").read_bytes())
    data[-1] ^= 1
    (folder / "original" / "a.safetensors").write_bytes(data)
    with pytest.raises(rt.ShardError, match=r"^SHD416: \S+ has  +for tp=4 of [0-9a-f]{32} already, and this is"):
        shard(TINY, folder / "original", folder / "cut", SIZES)


@pytest.mark.parametrize(
    ("sizes", "options", "text"),
    [
        ({"tp": 2, "ep": 1}, {}, "choose another directory"),
        (SIZES, {"keep_ignored": False}, "was begun with other options"),
    ],
)
def test_another_run_in_the_same_directory(
    folder: Path, sizes: dict[str, int], options: dict[str, bool], text: str
) -> None:
    with pytest.raises(rt.ShardError, match=rf"^SHD416: .*{text}$"):
        shard(TINY, folder / "original", folder / "cut", sizes, **options)


def test_not_into_the_checkpoint_itself(folder: Path) -> None:
    before = files(folder / "original")
    with pytest.raises(rt.ShardError, match=r"^SHD416: \S+ has a\.safetensors, which is none of ours"):
        shard(TINY, folder / "original", folder / "original", SIZES)
    assert files(folder / "original") == before


def test_a_block_is_held_of_a_tensor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """32 MiB are cut by columns, merged and cut anew in blocks of 1 MiB."""
    code = (
        "from shardc.runtime import Family, Spec, Tensor, axis\n"
        "def tensors(config, mesh, granule, file):\n"
        "    part = axis('n', 4096, mesh['tp'])\n"
        "    yield Tensor('w', Family((4096, 4096), 'row_parallel', ('BF16',), at={1: ((part.start, part.stop),)}))\n"
        "SPEC = Spec(tensors, {}, (), ('tp',), ('BF16',))\n"
    )
    (tmp_path / "original").mkdir()
    (tmp_path / "original" / "config.json").write_text("{}")
    save_file({"w": torch.ones(4096, 4096, dtype=torch.bfloat16)}, tmp_path / "original" / "model.safetensors")
    monkeypatch.setattr("shardc.store.blocks.blocks.__defaults__", (1 << 20,))
    monkeypatch.setattr("shardc.store.writer.BLOCK_BYTES", 1 << 20)
    tracemalloc.start()
    cut = shard(code, tmp_path / "original", tmp_path / "cut", {"tp": 4})
    merge(cut, tmp_path / "merged")
    shard(code, cut, tmp_path / "anew", {"tp": 2})
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 1 << 20 < peak < 3 << 20
    assert files(tmp_path / "merged") == files(tmp_path / "original")


def test_nothing_is_written_for_a_checkpoint_that_does_not_fit(folder: Path) -> None:
    (folder / "original" / "b.safetensors").unlink()
    with pytest.raises(rt.ShardError, match="SHD407"):
        shard(TINY, folder / "original", folder / "none", SIZES)
    assert not (folder / "none").exists()
