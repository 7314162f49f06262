"""What a load keeps: tensors with just their bytes, and nothing after an error."""

import gc
import os
import signal
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch

import shardc.runtime as rt
from shardc.runtime import loading, reading
from shardc.runtime.files import SourceFile
from shardc.runtime.memory import HUGE_PAGE

from .big_model import TP4, big_rank, big_spec, same
from .devices import LateStream, device_of, open_files
from .tiny_model import SPEC, full_tensors, mesh, write_indexed_checkpoint


def test_no_mapping_and_no_descriptor_stays(big: Path) -> None:
    rt.load_ranks(big_spec(), big, TP4)
    assert open_files(big) == []


def test_an_interrupt(big: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while threads read: they stop, and files are closed."""
    threads = threading.active_count()
    read_windows = reading.read_windows
    begun = []

    def interrupting(*args: Any) -> None:
        begun.append(args)
        if len(begun) == 3:
            os.kill(os.getpid(), signal.SIGINT)
        read_windows(*args)

    monkeypatch.setattr(reading, "read_windows", interrupting)
    with pytest.raises(KeyboardInterrupt):
        rt.load_ranks(big_spec(), big, TP4, threads=2)
    begun.clear()
    assert open_files(big) == []
    assert threading.active_count() == threads


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
