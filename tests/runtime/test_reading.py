import errno
import os
import threading
from pathlib import Path

import pytest
import torch

import shardc.runtime as rt
from shardc.runtime import reading
from shardc.runtime.files import SourceFile
from shardc.runtime.limits import LOCAL, Limits
from shardc.runtime.memory import Memory, host_memory
from shardc.runtime.reader_threads import Windows
from shardc.runtime.reading import carrying_out, uploaders_for
from shardc.runtime.windows import Window

from .devices import open_files
from .samples import piece, window

pytestmark = pytest.mark.usefixtures("torch_threads")

KIB = 1024
ONE_BY_ONE = LOCAL._replace(span=0)  # a thread takes one window at a time


def carry_out(windows: Windows, threads: int | None, done: reading.Done | None, limits: Limits = ONE_BY_ONE) -> None:
    with carrying_out(windows, limits, threads, done):
        pass


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "x.safetensors"
    path.write_bytes(bytes(range(256)) * KIB)
    return path


@pytest.fixture(params=["mapped", "read"])
def is_cached(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "read":
        monkeypatch.setattr(SourceFile, "cached", lambda *_: None)


@pytest.mark.usefixtures("is_cached")
@pytest.mark.parametrize("threads", [None, 1, 4])
def test_windows_of_both_kinds(path: Path, threads: int | None) -> None:
    memory = host_memory(256 * KIB)
    small = [
        window(piece(k * KIB, k * KIB + 100, memory, k * KIB), piece(k * KIB + 50, k * KIB + KIB, memory, k * KIB + 50))
        for k in range(64)
    ]
    large = [window(piece(64 * KIB, 256 * KIB, memory, 64 * KIB))]
    done: list[int] = []
    carry_out({path: [*small, *large]}, threads, done.append)
    assert memory.flat.tolist() == list(range(256)) * KIB
    assert done[0] == 0
    assert sorted(done[1:]) == [1074] * 64 + [192 * KIB]
    assert open_files(path.parent) == []


def test_what_the_page_cache_has_of_windows_is_copied_at_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Alike and at a constant distance, they are one copy; their pages are dropped once. What it lacks is read."""
    memory, dealt, dropped = host_memory(256 * KIB), [], []
    deal, cached = reading.deal, SourceFile.cached
    monkeypatch.setattr(reading, "deal", lambda *args: dealt.append(args) or deal(*args))
    monkeypatch.setattr(SourceFile, "drop", lambda _, begin, end: dropped.append((begin, end)))
    monkeypatch.setattr(SourceFile, "cached", lambda file, begin, end: cached(file, begin, end) if begin else None)
    windows = [window(piece(k * KIB, k * KIB + 100, memory, k * KIB)) for k in range(0, 256, 32)]
    carry_out({path: windows}, 1, None, LOCAL)
    assert [[each.begin // KIB for each in pieces] for _, _, pieces in dealt] == [[0], list(range(32, 256, 32))]
    assert dropped == [(32 * KIB, 224 * KIB + 100)]
    expected = bytearray(256 * KIB)
    for begin in range(0, 256 * KIB, 32 * KIB):
        expected[begin : begin + 100] = range(100)
    assert bytes(memory.bytes) == expected


def test_no_windows() -> None:
    done: list[int] = []
    carry_out({}, None, done.append)
    assert done == [0]


@pytest.mark.usefixtures("is_cached")
def test_the_first_tensor_that_the_file_lacks_bytes_of(path: Path) -> None:
    memory = host_memory(4 * KIB)
    beyond = 256 * KIB
    one = window(
        piece(beyond - 90, beyond - 80, memory, name="there"), piece(beyond - 20, beyond + 9, memory, name="cut")
    )
    with pytest.raises(rt.ShardError) as caught:
        carry_out({path: [one]}, 2, lambda _: None)
    text = "x.safetensors: cut takes bytes 262124..262153, but the file has 262144"
    assert caught.value.findings == (("SHD406", text),)
    assert open_files(path.parent) == []


def test_a_read_that_fails(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(SourceFile, "cached", lambda *_: None)
    monkeypatch.setattr(os, "preadv", fail)
    memory = host_memory(4 * KIB)
    with pytest.raises(rt.ShardError) as caught:
        carry_out({path: [window(piece(8, 16, memory))]}, 2, lambda _: None)
    text = "x.safetensors: w takes bytes 8..16, of which some can't be read: Input/output error"
    assert caught.value.findings == (("SHD406", text),)
    assert open_files(path.parent) == []


def test_a_file_that_has_vanished(path: Path) -> None:
    path.unlink()
    with pytest.raises(rt.ShardError) as caught:
        carry_out({path: [window(piece(8, 16, host_memory(64)))]}, 2, lambda _: None)
    assert caught.value.findings == (("SHD406", "x.safetensors: No such file or directory"),)


def test_an_error_stops_the_other_threads(
    path: Path, monkeypatch: pytest.MonkeyPatch, stopped: threading.Event
) -> None:
    """The first window fails once the second is begun, and no third is."""
    seen: list[int] = []
    second = threading.Event()

    def read_windows(file: SourceFile, windows: list[Window], *_: object) -> None:
        [one] = windows
        seen.append(one.begin)
        if one.begin == 0:
            second.wait(10)
            raise ValueError("first")
        second.set()
        stopped.wait(10)

    monkeypatch.setattr(reading, "read_windows", read_windows)
    memory = host_memory(64)
    with pytest.raises(ValueError, match="first"):
        carry_out({path: [window(piece(k * KIB, k * KIB + 8, memory)) for k in range(9)]}, 2, lambda _: None)
    assert sorted(seen) == [0, KIB]
    assert open_files(path.parent) == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_error_of_the_callers_own(path: Path, error: type[BaseException]) -> None:
    def progress(count: int) -> None:
        if count:
            raise error

    before = torch.get_num_threads()
    memory = host_memory(64)
    with pytest.raises(error):
        carry_out({path: [window(piece(8, 16, memory)), window(piece(32 * KIB, 32 * KIB + 8, memory))]}, 2, progress)
    assert open_files(path.parent) == []
    assert torch.get_num_threads() == before


def test_a_thread_that_cannot_be_started(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The threads that were started are not left waiting for it."""
    start, started = threading.Thread.start, []

    def refuse(thread: threading.Thread) -> None:
        started.append(thread)
        if len(started) == 3:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    before = torch.get_num_threads()
    with pytest.raises(RuntimeError, match="can't start new thread"):
        carry_out({path: [window(piece(8, 16, host_memory(64)))]}, 4, lambda _: None)
    assert torch.get_num_threads() == before
    assert not any(thread.is_alive() for thread in started)


def test_threads_copy_alone(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    monkeypatch.setattr(reading, "read_windows", lambda *_: seen.append(torch.get_num_threads()))
    torch.set_num_threads(2)
    memory = host_memory(64)
    carry_out({path: [window(piece(8 * k, 8 * k + 8, memory)) for k in range(9)]}, 3, lambda _: None)
    assert seen == [1] * 9
    assert torch.get_num_threads() == 2


def test_two_loads_at_once_leave_the_number_of_threads(path: Path) -> None:
    torch.set_num_threads(2)
    memory, found = host_memory(64), []

    def load() -> None:
        for _ in range(20):
            carry_out({path: [window(piece(8, 16, memory))]}, 2, lambda _: None)
            found.append(torch.get_num_threads())

    loads = [threading.Thread(target=load) for _ in range(4)]
    for each in loads:
        each.start()
    for each in loads:
        each.join(60)
    assert found == [2] * 80
    assert torch.get_num_threads() == 2


def test_buffers_for_the_largest_window_of_each_device(path: Path) -> None:
    there, host = Memory(torch.empty(4 * KIB, dtype=torch.uint8, device="meta")), host_memory(64)
    windows = {
        path: [
            window(piece(0, 100, there), piece(50, 110, there), piece(60, 64, host)),
            window(piece(500, 600, there)),
        ]
    }
    uploaders = uploaders_for(windows, 3)
    assert list(uploaders) == [torch.device("meta")]
    ring = uploaders[torch.device("meta")].ring
    assert [slot.memory.flat.nbytes for slot in ring.slots] == [192] * 6
    assert uploaders_for({path: [window(piece(0, 8, host))]}, 3) == {}


def test_pieces_that_follow_each_other_are_one_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each goes to a memory of its own, as those of several ranks do; the file is short by the last byte."""
    reads: list[tuple[int, int]] = []
    preadv = os.preadv

    def counted(descriptor: int, into: list[memoryview], begin: int) -> int:
        reads.append((len(into), begin))
        return preadv(descriptor, into, begin)

    monkeypatch.setattr(os, "preadv", counted)
    memories = [host_memory(64 * KIB) for _ in range(3)]
    one = window(*(piece(64 * k * KIB, 64 * (k + 1) * KIB, memory, name="abc"[k]) for k, memory in enumerate(memories)))
    carry_out({path: [one]}, 1, lambda _: None)
    assert reads == [(3, 0)]
    assert all(bytes(memory.bytes) == bytes(range(256)) * 256 for memory in memories)
    os.truncate(path, 192 * KIB - 1)
    with pytest.raises(rt.ShardError) as caught:
        carry_out({path: [one]}, 1, lambda _: None)
    text = "x.safetensors: c takes bytes 131072..196608, but the file has 196607"
    assert caught.value.findings == (("SHD406", text),)


def test_what_is_inside_runs_meanwhile(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left of the reading is waited for; its error is raised once the threads have stopped."""
    inside, seen = threading.Event(), []
    monkeypatch.setattr(reading, "read_windows", lambda _, those, *__: seen.append((inside.wait(10), those[0].begin)))
    windows = [window(piece(k * KIB, k * KIB + 8, host_memory(64))) for k in range(3)]
    with carrying_out({path: list(windows)}, ONE_BY_ONE, 2, lambda _: None):
        inside.set()
    assert sorted(seen) == [(True, 0), (True, KIB), (True, 2 * KIB)]
    with pytest.raises(ValueError, match="inside"), carrying_out({path: windows}, ONE_BY_ONE, 2, lambda _: None):
        raise ValueError("inside")
    assert open_files(path.parent) == []
