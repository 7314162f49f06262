import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import fsspec
import pytest
import torch

import shardc.runtime as rt

from .stores import OpenOnly, Store, stored
from .tiny_model import SPEC, equal, full_tensors, mesh, write_checkpoint, write_indexed_checkpoint

MIB = 1 << 20
SHAPES = {"down": (1024, 4096), "embed": (8, 2 * MIB), "norm": (4096,), "stack": (3, 4, MIB)}


def big_tensors(config: rt.Config, mesh: Mapping[str, rt.MeshDim], *_: object) -> Iterator[rt.Tensor]:
    tp = mesh["tp"]
    parts: dict[str, dict[int, Any]] = {
        "down": {1: ((1024 * tp.rank, 1024 * (tp.rank + 1)),)},
        "embed": {0: ((2 * tp.rank, 2 * (tp.rank + 1)),)},
        "norm": {},
        "stack": {1: ((tp.rank, tp.rank + 1),)},
    }
    for name, at in parts.items():
        yield rt.Tensor(name, rt.Family(SHAPES[name], "of a test", ("U8",), at=at))


BIG = rt.Spec(big_tensors, {}, (), ("tp",), ("U8",))


def rank(number: int) -> dict[str, rt.MeshDim]:
    return rt.mesh(("tp",), extra={"tp": (number, 4)})


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """32 MiB in one file: down, embed, norm, stack, one behind the other."""
    full = {name: torch.randint(256, shape, dtype=torch.uint8) for name, shape in SHAPES.items()}
    return write_checkpoint(tmp_path_factory.mktemp("big"), full)


def ranges(store: Store) -> list[tuple[int, int]]:
    """What was read after the headers, counted from the first data byte, in order."""
    data_start = 8 + int.from_bytes(store.files["model/model.safetensors"][:8], "little")
    found = [(start, end) for name, start, end in store.asked if name == "model.safetensors" and start]
    return sorted((start - data_start, (end or 0) - data_start) for start, end in found)


def same(ours: Mapping[str, torch.Tensor], others: Mapping[str, torch.Tensor]) -> bool:
    return list(ours) == list(others) and all(equal(ours[name], others[name]) for name in ours)


@pytest.mark.parametrize("format", ["dense", "block4", "packed"])
@pytest.mark.parametrize("kind", [Store, OpenOnly])
def test_it_is_what_is_loaded_from_here(tmp_path: Path, format: str, kind: type[Store]) -> None:
    directory = write_indexed_checkpoint(tmp_path, full_tensors(format))
    store = stored(directory, kind)
    meshes = [mesh(tp=(number, 2), ep=(1, 2)) for number in range(2)]
    local = rt.load_ranks(SPEC, directory, meshes, dtype=torch.bfloat16)
    remote = rt.load_ranks(SPEC, "model", meshes, dtype=torch.bfloat16, filesystem=store)
    assert all(same(ours, others) for ours, others in zip(remote, local, strict=True))


def test_a_url(tmp_path: Path) -> None:
    directory = write_checkpoint(tmp_path, full_tensors())
    memory = fsspec.filesystem("memory")
    memory.put(str(directory), "/a_url/model", recursive=True)
    assert same(rt.load(SPEC, "memory://a_url/model", mesh()), rt.load(SPEC, directory, mesh()))
    memory.rm("/a_url", recursive=True)


def test_the_ranges_of_a_rank(big: Path) -> None:
    """A row cut is a range, a column cut is read through, blocks that lie far apart are not."""
    store = stored(big)
    assert same(rt.load(BIG, "model", rank(1), filesystem=store), rt.load(BIG, big, rank(1)))
    stack = 20 * MIB + 4096
    assert ranges(store) == [
        (1024, 4 * MIB - 2048),  # down: columns 1024 .. 2048 of every row
        (8 * MIB, 12 * MIB),  # embed: rows 2 .. 4
        (20 * MIB, stack + 2 * MIB),  # norm, and a block 1 MiB behind it
        (stack + 5 * MIB, stack + 6 * MIB),
        (stack + 9 * MIB, stack + 10 * MIB),
    ]


def test_neighbours_are_one_range(big: Path) -> None:
    """Rank 0's first rows of embed lie right behind its part of down; norm lies in front of its first block of stack."""
    store = stored(big)
    rt.load(BIG, "model", rank(0), filesystem=store)
    stack = 20 * MIB + 4096
    assert ranges(store) == [
        (0, 8 * MIB),
        (20 * MIB, stack + MIB),
        (stack + 4 * MIB, stack + 5 * MIB),
        (stack + 8 * MIB, stack + 9 * MIB),
    ]


def test_all_ranks_read_each_byte_once(big: Path) -> None:
    store = stored(big)
    loaded = rt.load_ranks(BIG, "model", [rank(number) for number in range(4)], filesystem=store)
    local = rt.load_ranks(BIG, big, [rank(number) for number in range(4)])
    assert all(same(ours, others) for ours, others in zip(loaded, local, strict=True))
    found = ranges(store)
    assert [start for start, _ in found] == [0, *(end for _, end in found[:-1])]
    assert found[-1][1] == 32 * MIB + 4096
    assert max(end - start for start, end in found) <= 8 * MIB


def test_requests_are_in_flight_together(big: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here all five of a rank: none is answered before the last has come."""
    store = stored(big)
    content, all_five = store.content, threading.Barrier(5, timeout=10)

    def answer(path: str, start: int | None, end: int | None) -> bytes:
        if start:
            all_five.wait()
        return content(path, start, end)

    monkeypatch.setattr(store, "content", answer)
    assert rt.load(BIG, "model", rank(1), filesystem=store).keys() == SHAPES.keys()


def failing(store: Store, error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the first range after the headers on."""
    content = store.content

    def fail(path: str, start: int | None, end: int | None) -> bytes:
        if start:
            raise error
        return content(path, start, end)

    monkeypatch.setattr(store, "content", fail)


def refusal(store: Store) -> tuple[rt.Finding, ...]:
    """Also makes sure that no thread goes on."""
    with pytest.raises(rt.ShardError) as caught:
        rt.load(SPEC, "model", mesh(), filesystem=store, threads=1)
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("load")]
    return caught.value.findings


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ConnectionResetError(104, "Connection reset by peer"), "Connection reset by peer"),
        (PermissionError("Forbidden"), "PermissionError: Forbidden"),
        (FileNotFoundError("model/a.safetensors"), "No such file or directory"),
        (RuntimeError("503 Slow down"), "RuntimeError: 503 Slow down"),
    ],
)
def test_a_connection_that_drops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, reason: str
) -> None:
    store = stored(write_indexed_checkpoint(tmp_path, full_tensors()))
    failing(store, error, monkeypatch)
    text = f"a.safetensors: A_log takes bytes 536..568, of which some can't be read: {reason}"
    assert refusal(store) == (("SHD406", text),)


def test_a_short_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = stored(write_indexed_checkpoint(tmp_path, full_tensors()))
    content = store.content
    monkeypatch.setattr(
        store, "content", lambda path, start, end: content(path, start, min(end, 700) if start else end)
    )
    text = "a.safetensors: experts.0.down.weight takes bytes 568..1080, but the file has 700"
    assert refusal(store) == (("SHD406", text),)


def test_a_store_without_ranges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = stored(write_indexed_checkpoint(tmp_path, full_tensors()))
    size = len(store.files["model/a.safetensors"])
    monkeypatch.setattr(store, "cat_file", lambda path, start=None, end=None: store.files[path])
    text = f"the store sent {size} bytes for {size - 536}: it can't read parts of a file"
    head = "a.safetensors: A_log takes bytes 536..568, of which some can't be read"
    assert refusal(store) == (("SHD406", f"{head}: {text}"),)


@pytest.mark.usefixtures("no_allocation")
def test_all_faults_of_headers_before_any_allocation(tmp_path: Path) -> None:
    store = stored(write_indexed_checkpoint(tmp_path, full_tensors()))
    for name in ("a", "b"):
        store.files[f"model/{name}.safetensors"] = b"123"
    text = "safetensors: 3 bytes, too short: a header's length alone takes 8"
    assert refusal(store) == (("SHD406", f"a.{text}"), ("SHD406", f"b.{text}"))
    del store.files["model/a.safetensors"]
    assert refusal(store) == (
        ("SHD407", "model.safetensors.index.json puts A_log and 6 more in a.safetensors, which does not exist"),
    )
