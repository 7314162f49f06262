"""Several ranks in one pass: the same tensors, and each byte of the file asked for once."""

import threading
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch

import shardc.runtime as rt
from shardc.runtime.files import SourceFile
from shardc.runtime.memory import Memory

from .big_model import TP4, big_rank, big_spec, same
from .tiny_model import SPEC, full_tensors, mesh, write_checkpoint, write_indexed_checkpoint


def ranks(tp: int, ep: int) -> list[dict[str, rt.MeshDim]]:
    return [mesh((t, tp), (e, ep)) for e in range(ep) for t in range(tp)]


@pytest.mark.parametrize("format", ["dense", "block4", "packed"])
@pytest.mark.parametrize(("tp", "ep"), [(1, 1), (2, 1), (4, 1), (2, 2), (1, 4)])
@pytest.mark.parametrize("options", [{}, {"separate": True, "threads": 1}, {"dtype": torch.bfloat16}, {"fused": False}])
def test_as_each_rank_alone(tmp_path: Path, format: str, tp: int, ep: int, options: Any) -> None:
    directory = write_indexed_checkpoint(tmp_path, full_tensors(format))
    meshes = ranks(min(tp, 2) if format == "packed" else tp, ep)  # a packed word is of 8
    together = rt.load_ranks(SPEC, directory, meshes, **options)
    assert len(together) == len(meshes)
    for own, tensors in zip(meshes, together, strict=True):
        assert same(tensors, rt.load(SPEC, directory, own, **options))
        assert tensors["lm_head.weight"] is tensors["embed.weight"]


def test_ranks_of_meshes_of_several_sizes(tmp_path: Path) -> None:
    directory = write_checkpoint(tmp_path, full_tensors("packed"))
    meshes = [mesh(), *ranks(1, 4), *ranks(2, 2)]
    for own, tensors in zip(meshes, rt.load_ranks(SPEC, directory, meshes), strict=True):
        assert same(tensors, rt.load(SPEC, directory, own))


def test_no_ranks(tmp_path: Path) -> None:
    assert rt.load_ranks(SPEC, write_checkpoint(tmp_path, full_tensors()), []) == []


@pytest.mark.usefixtures("no_allocation")
@pytest.mark.parametrize(("count", "text"), [(0, "0 devices for 2 ranks"), (3, "3 devices for 2 ranks")])
def test_a_device_for_each_rank(tmp_path: Path, count: int, text: str) -> None:
    directory = write_checkpoint(tmp_path, full_tensors())
    with pytest.raises(rt.ShardError) as caught:
        rt.load_ranks(SPEC, directory, ranks(2, 1), devices=["cpu"] * count)
    assert caught.value.findings == (("SHD410", text),)


def test_devices_that_are_given(tmp_path: Path) -> None:
    directory = write_checkpoint(tmp_path, full_tensors())
    found = rt.load_ranks(SPEC, directory, ranks(2, 1), devices=["cpu", torch.device("cpu")])
    assert same(found[1], rt.load(SPEC, directory, mesh((1, 2))))


@pytest.mark.usefixtures("is_cached")
@pytest.mark.parametrize("form", ["plain", "fused"])
def test_many_windows(big: Path, form: str) -> None:
    found = rt.load_ranks(big_spec(form), big, TP4, threads=4)
    for rank, own in enumerate(found):
        assert same(own, big_rank(rank, form)), rank


@pytest.mark.usefixtures("is_cached")
@pytest.mark.parametrize("form", ["plain", "fused"])
def test_each_byte_is_read_once(big: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    asked: dict[str, list[tuple[int, int]]] = {}
    read, cached = SourceFile.read, SourceFile.cached
    lock = threading.Lock()

    def note(file: SourceFile, begin: int, end: int) -> None:
        with lock:
            asked.setdefault(file.path.name, []).append((begin, end))

    def read_noted(file: SourceFile, into: list[memoryview], begin: int) -> int:
        note(file, begin, begin + sum(map(len, into)))
        return read(file, into, begin)

    def cached_noted(file: SourceFile, begin: int, end: int) -> Memory | None:
        found = cached(file, begin, end)
        if found is not None:
            note(file, begin, end)
        return found

    monkeypatch.setattr(SourceFile, "read", read_noted)
    monkeypatch.setattr(SourceFile, "cached", cached_noted)
    rt.load_ranks(big_spec(form), big, TP4, threads=3)
    for name, ranges in asked.items():
        ranges.sort()
        size = (big / name).stat().st_size
        assert all(end <= following for (_, end), (following, _) in pairwise(ranges))
        assert sum(end - begin for begin, end in ranges) == size - (
            8 + int.from_bytes((big / name).read_bytes()[:8], "little")
        )
        assert max(end - begin for begin, end in ranges) <= 8 << 20


def test_one_rank_reads_its_rows_alone(big: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    read = SourceFile.read
    monkeypatch.setattr(SourceFile, "cached", lambda *_: None)
    monkeypatch.setattr(
        SourceFile, "read", lambda file, into, begin: asked.append(sum(map(len, into))) or read(file, into, begin)
    )
    rt.load(big_spec(), big, TP4[3])
    rows, everyones, columns, experts = 2 * 4_444_000, 8_400_000, 10_000_000, 400 * 32_000
    assert rows + everyones + columns + experts - 20_000 < sum(asked) < rows + everyones + columns + experts + 2000


@pytest.mark.parametrize("threads", [1, 4])
def test_progress_ends_with_all_bytes(big: Path, threads: int) -> None:
    seen: list[tuple[int, int]] = []
    found = rt.load_ranks(big_spec(), big, TP4, threads=threads, progress=lambda *each: seen.append(each))
    total = sum(tensor.nbytes for own in found for tensor in own.values())
    padding = 4 * 2500 * 5 * 4 + 3 * 4000
    assert seen[0] == (padding, total)
    assert seen == sorted(seen)
    assert seen[-1] == (total, total)
    assert len(seen) > 10


def test_progress_where_nothing_is_read(tmp_path: Path) -> None:
    def tensors(_: object, mesh: Mapping[str, rt.MeshDim], *__: object) -> Iterator[rt.Tensor]:
        yield rt.Tensor("bias", rt.Family((8,), "rank0", ("F32",), at={0: rt.rank0(mesh["tp"], 8)}))
        yield rt.Tensor("none", rt.Family((0, 3), "replicated", ("F32",)))

    seen: list[tuple[int, int]] = []
    spec = rt.Spec(tensors, {}, (), ("tp",), ("F32",))
    directory = write_checkpoint(tmp_path, {"bias": torch.ones(8), "none": torch.ones(0, 3)}, {})
    found = rt.load(spec, directory, rt.mesh(("tp",), extra={"tp": (1, 2)}), progress=lambda *each: seen.append(each))
    assert found["bias"].tolist() == [0.0] * 8
    assert found["none"].shape == (0, 3)
    assert seen == [(32, 32)]


def test_a_checkpoint_of_no_tensors(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    spec = rt.Spec(lambda *_: iter(()), {}, (), ("tp",), ("F32",))
    directory = write_checkpoint(tmp_path, {}, {})
    assert rt.load(spec, directory, rt.mesh(("tp",)), progress=lambda *each: seen.append(each)) == {}
    assert seen == [(0, 0)]


@pytest.mark.parametrize("separate", [False, True])
def test_shapes_without_rows_and_scalars(tmp_path: Path, separate: bool) -> None:
    full = {"zero": torch.ones(0), "cols": torch.ones(3, 0), "scalar": torch.tensor(5.0), "one": torch.tensor([6.0])}

    def tensors(*_: object) -> Iterator[rt.Tensor]:
        for name, tensor in full.items():
            yield rt.Tensor(name, rt.Family(tuple(tensor.shape), "replicated", ("F32",)))

    spec = rt.Spec(tensors, {}, (), ("tp",), ("F32",))
    found = rt.load(spec, write_checkpoint(tmp_path, full, {}), rt.mesh(("tp",)), separate=separate)
    assert same(found, full)
