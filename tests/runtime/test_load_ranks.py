"""Several ranks in one pass: the same tensors, and each byte of the file asked for once."""

import gc
import json
import os
import signal
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

import shardc.runtime as rt
from shardc.runtime import loading, reading
from shardc.runtime.files import SourceFile
from shardc.runtime.memory import HUGE_PAGE
from shardc.runtime.rings import Ring
from shardc.runtime.streams import staging_memory
from shardc.runtime.uploads import Uploader, packed_bytes

from .devices import LateStream
from .tiny_model import SPEC, arange, full_tensors, mesh, write_checkpoint, write_indexed_checkpoint

Tensors = dict[str, torch.Tensor]


def same(one: Tensors, other: Tensors) -> bool:
    """Same names in the same order, dtypes, shapes and bytes."""
    return list(one) == list(other) and all(
        (tensor.dtype, tensor.shape) == (other[name].dtype, other[name].shape)
        and torch.equal(
            tensor.contiguous().view(-1).view(torch.uint8), other[name].contiguous().view(-1).view(torch.uint8)
        )
        for name, tensor in one.items()
    )


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


# ---- a checkpoint of many windows


def big_spec(form: str = "plain") -> rt.Spec:
    """Rows, columns, a copy for all, many small tensors; `fused`: rows interleaved, and experts stacked."""

    def tensors(config: object, mesh: Mapping[str, rt.MeshDim], *_: object) -> Iterator[rt.Tensor | rt.Output]:
        heads, inter = rt.axis("heads", 4, mesh["tp"]), rt.axis("inter", 1000, mesh["tp"])
        rows = {0: ((heads.start * 1000, heads.stop * 1000),)}
        yield rt.Tensor("rows", rt.Family((4000, 1111), "channel_rows", ("F32",), at=rows))
        yield rt.Tensor("more_rows", rt.Family((4000, 1111), "channel_rows", ("F32",), at=rows))
        yield rt.Tensor(
            "cols", rt.Family((2500, 1000), "channel_cols", ("F32",), at={1: ((inter.start, inter.stop, 5),)})
        )
        yield rt.Tensor("all", rt.Family((3000, 700), "replicated", ("F32",)))
        yield rt.Tensor("bias", rt.Family((1000,), "rank0", ("F32",), at={0: rt.rank0(mesh["tp"], 1000)}))
        for expert in range(400):
            yield rt.Tensor(
                f"e.{expert}", rt.Family((8, 1000), "expert_slices", ("F32",), at={1: ((inter.start, inter.stop),)})
            )
            yield rt.Tensor(f"e.{expert}.scale", rt.Family((), "replicated", ("F32",)))
            if form == "fused":
                yield rt.Output("experts", (f"e.{expert}",), slice=(expert, 400))
                yield rt.Output("scales", (f"e.{expert}.scale",), slice=(expert, 400))
        if form == "fused":
            yield rt.Output("qk", ("rows", "more_rows"), by=(heads,))

    return rt.Spec(tensors, {}, (), ("tp",), ("F32",))


def big_tensors() -> Tensors:
    full = {
        "rows": arange(4000, 1111),
        "more_rows": -arange(4000, 1111),
        "cols": arange(2500, 1000) + 7,
        "all": arange(3000, 700) + 9,
        "bias": arange(1000),
    }
    for expert in range(400):
        full |= {f"e.{expert}": arange(8, 1000) + expert, f"e.{expert}.scale": torch.tensor(float(expert))}
    return full


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint of 65 MB in two files."""
    directory = tmp_path_factory.mktemp("big")
    full = big_tensors()
    files = {"a.safetensors": [name for name in full if "e." in name or name == "all"]}
    files["b.safetensors"] = [name for name in full if name not in files["a.safetensors"]]
    for file, names in files.items():
        save_file({name: full[name] for name in names}, directory / file)
    (directory / "config.json").write_text("{}")
    weight_map = {name: file for file, names in files.items() for name in names}
    (directory / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
    return directory


TP4 = [rt.mesh(("tp",), extra={"tp": (rank, 4)}) for rank in range(4)]


def big_rank(rank: int, form: str = "plain") -> Tensors:
    """What a rank gets of it, by slices."""
    full = big_tensors()
    rows, cols = slice(1000 * rank, 1000 * rank + 1000), slice(250 * rank, 250 * rank + 250)
    own = {
        "rows": full["rows"][rows],
        "more_rows": full["more_rows"][rows],
        "cols": torch.cat([full["cols"][:, cols], torch.zeros(2500, 5)], 1),
        "all": full["all"],
        "bias": full["bias"] if rank == 0 else torch.zeros(1000),
    }
    if form == "fused":
        own = {"qk": torch.cat([own.pop("rows"), own.pop("more_rows")]), **own}
        own["experts"] = torch.stack([full[f"e.{expert}"][:, cols] for expert in range(400)])
        own["scales"] = torch.arange(400.0)
        return own
    for expert in range(400):
        own |= {f"e.{expert}": full[f"e.{expert}"][:, cols], f"e.{expert}.scale": full[f"e.{expert}.scale"]}
    return own


@pytest.fixture(params=["mapped", "read"])
def is_cached(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "read":
        monkeypatch.setattr(SourceFile, "cached", lambda *_: None)


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

    def read_noted(file: SourceFile, into: memoryview, begin: int) -> int:
        note(file, begin, begin + len(into))
        return read(file, into, begin)

    def cached_noted(file: SourceFile, begin: int, end: int) -> torch.Tensor | None:
        found = cached(file, begin, end)
        if found is not None:
            note(file, begin, end)
        return found

    monkeypatch.setattr(SourceFile, "read", read_noted)
    monkeypatch.setattr(SourceFile, "cached", cached_noted)
    rt.load_ranks(big_spec(form), big, TP4)
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
        SourceFile, "read", lambda file, into, begin: asked.append(len(into)) or read(file, into, begin)
    )
    rt.load(big_spec(), big, TP4[3])
    rows, everyones, columns, experts = 2 * 4_444_000, 8_400_000, 10_000_000, 400 * 32_000
    assert rows + everyones + columns + experts - 20_000 < sum(asked) < rows + everyones + columns + experts + 2000


def test_tensors_lie_in_the_files_order_and_have_just_their_bytes(big: Path) -> None:
    found = rt.load(big_spec(), big, TP4[1])
    headers = rt.read_headers(big)
    in_order = [found[name] for name in sorted(found, key=lambda name: (headers[name].file, headers[name].begin))]
    assert in_order[0].data_ptr() % HUGE_PAGE == 0
    place = in_order[0].data_ptr()
    for tensor in in_order:
        assert tensor.data_ptr() == place
        assert tensor.untyped_storage().nbytes() == tensor.nbytes
        assert tensor.is_contiguous()
        place += -(-tensor.nbytes // 64) * 64


def test_separate_tensors_are_freed_one_by_one(big: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = []
    mapped = loading.rooms_of

    def noted(*args: Any, **kwargs: Any) -> Any:
        rooms = mapped(*args, **kwargs)
        pages.append({name: weakref.ref(room.memory.pages) for name, room in rooms.items() if name in ("rows", "all")})
        return rooms

    monkeypatch.setattr(loading, "rooms_of", noted)
    found = rt.load(big_spec(), big, TP4[1], separate=True)
    [refs] = pages
    del found["rows"]
    assert (refs["rows"]() is None, refs["all"]() is None) == (True, False)
    del found["all"]
    assert refs["all"]() is None


def test_nothing_of_the_slab_is_kept_after_the_last_tensor(big: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = []
    mapped = loading.rooms_of

    def noted(*args: Any, **kwargs: Any) -> Any:
        rooms = mapped(*args, **kwargs)
        pages.append(weakref.ref(rooms["all"].memory.pages))
        return rooms

    monkeypatch.setattr(loading, "rooms_of", noted)
    found = rt.load(big_spec(), big, TP4[1])
    last = found["bias"]
    del found
    assert pages[0]() is not None
    del last
    assert pages[0]() is None


def open_files(directory: Path) -> list[str]:
    names = [str(each.resolve()) for each in Path("/proc/self/fd").iterdir()]
    return [name for name in [*names, *Path("/proc/self/maps").read_text().splitlines()] if str(directory) in name]


def test_no_mapping_and_no_descriptor_stays(big: Path) -> None:
    rt.load_ranks(big_spec(), big, TP4)
    assert open_files(big) == []


def test_an_interrupt(big: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while threads read: they stop, and files are closed."""
    threads = threading.active_count()
    read_window = reading.read_window
    begun = []

    def interrupting(*args: Any) -> None:
        begun.append(args)
        if len(begun) == 3:
            os.kill(os.getpid(), signal.SIGINT)
        read_window(*args)

    monkeypatch.setattr(reading, "read_window", interrupting)
    with pytest.raises(KeyboardInterrupt):
        rt.load_ranks(big_spec(), big, TP4, threads=2)
    begun.clear()
    assert open_files(big) == []
    assert threading.active_count() == threads


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


def test_two_loads_at_the_same_time(big: Path) -> None:
    before = torch.get_num_threads()
    with ThreadPoolExecutor(2) as pool:
        loads = [pool.submit(rt.load, big_spec(), big, TP4[rank]) for rank in (1, 2)]
        found = [load.result() for load in loads]
    assert same(found[0], big_rank(1))
    assert same(found[1], big_rank(2))
    assert torch.get_num_threads() == before


def test_a_file_that_vanishes_between_headers_and_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = write_indexed_checkpoint(tmp_path, full_tensors())
    with pytest.raises(rt.ShardError) as caught:
        rt.load(SPEC, directory, mesh(), progress=lambda *_: (directory / "b.safetensors").unlink(missing_ok=True))
    assert caught.value.findings == (("SHD406", "b.safetensors: No such file or directory"),)
    assert open_files(directory) == []


def device_of(stream: LateStream) -> Callable[..., dict[torch.device, Uploader]]:
    """The host, taken for a device that copies late."""

    def uploaders_for(windows: reading.Windows, threads: int) -> dict[torch.device, Uploader]:
        most = max(sum(map(packed_bytes, window.pieces)) for those in windows.values() for window in those)
        ring = Ring(staging_memory(most, pinned=False) for _ in range(2 * threads))
        return {torch.device("cpu"): Uploader(ring, stream)}

    return uploaders_for


@pytest.mark.usefixtures("is_cached")
@pytest.mark.parametrize("form", ["plain", "fused"])
def test_the_whole_way_to_a_device(big: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    stream = LateStream(pause=0.0001)
    monkeypatch.setattr(reading, "uploaders_for", device_of(stream))
    found = rt.load_ranks(big_spec(form), big, TP4, threads=4)
    stream.close()
    for rank, own in enumerate(found):
        assert same(own, big_rank(rank, form)), rank
    assert stream.entries > 10


def test_a_device_that_fails(big: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = LateStream(fail_at=5)
    monkeypatch.setattr(reading, "uploaders_for", device_of(stream))
    with pytest.raises(RuntimeError, match="the device is lost"):
        rt.load_ranks(big_spec(), big, TP4, threads=4)
    assert stream.queue.empty()  # what was begun is done
    stream.close()
    assert stream.entries < 12
    assert open_files(big) == []


@pytest.mark.parametrize("fails", ["device", "file", "caller"])
def test_an_error_keeps_nothing(big: Path, monkeypatch: pytest.MonkeyPatch, fails: str) -> None:
    """Neither the tensors nor the file, without the help of the collector."""
    slabs, stream = [], LateStream(fail_at=5)
    mapped = loading.rooms_of

    def noted(*args: Any, **kwargs: Any) -> Any:
        rooms = mapped(*args, **kwargs)
        slabs.append(weakref.ref(rooms["all"].memory.pages))
        return rooms

    def progress(done: int, total: int) -> None:
        if done == total and fails == "caller":
            raise ValueError("the device is lost")

    monkeypatch.setattr(loading, "rooms_of", noted)
    if fails == "device":
        monkeypatch.setattr(reading, "uploaders_for", device_of(stream))
    if fails == "file":
        monkeypatch.setattr(SourceFile, "read", lambda *_: 0)
        monkeypatch.setattr(SourceFile, "cached", lambda *_: None)
    gc.disable()
    try:
        rt.load(big_spec(), big, TP4[0], threads=4, progress=progress)
    except (RuntimeError, ValueError, rt.ShardError) as error:
        assert "the device is lost" in str(error) or "SHD406" in str(error)
    else:
        raise AssertionError("no error")
    finally:
        gc.enable()
        stream.close()
    assert [slab() for slab in slabs] == [None]
    assert open_files(big) == []


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("options", [{}, {"dtype": torch.bfloat16}, {"separate": True}])
@pytest.mark.parametrize("form", ["plain", "fused"])
def test_two_ranks_on_one_device(big: Path, form: str, options: Any) -> None:
    on_host = rt.load_ranks(big_spec(form), big, TP4[:2], **options)
    on_device = rt.load_ranks(big_spec(form), big, TP4[:2], devices=["cuda", "cuda:0"], **options)
    for one, other in zip(on_host, on_device, strict=True):
        assert all(tensor.is_cuda for tensor in other.values())
        assert same(one, {name: tensor.cpu() for name, tensor in other.items()})


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_the_device_is_waited_for_when_a_buffer_is_needed(big: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies wait on events of their own, never for all that the device does."""

    def refuse(*_: object) -> None:
        raise AssertionError("the whole device was waited for")

    for owner in (torch.cuda, torch.cuda.Stream):
        monkeypatch.setattr(owner, "synchronize", refuse)
    found = rt.load(big_spec(), big, TP4[1], device="cuda")
    monkeypatch.undo()
    assert same({name: tensor.cpu() for name, tensor in found.items()}, big_rank(1))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_without_pinned_memory(big: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = torch.empty

    def refuse(*size: Any, pin_memory: bool = False, **kwargs: Any) -> torch.Tensor:
        if pin_memory:
            raise RuntimeError("no pages")
        return empty(*size, **kwargs)

    monkeypatch.setattr(torch, "empty", refuse)
    with pytest.warns(UserWarning, match=r"slower: no pinned memory \(no pages\)$"):
        found = rt.load(big_spec(), big, TP4[1], device="cuda")
    assert same({name: tensor.cpu() for name, tensor in found.items()}, big_rank(1))
