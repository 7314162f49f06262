import os
from pathlib import Path

import pytest
import torch

from shardc.runtime import reader_threads
from shardc.runtime.files import SourceFile
from shardc.runtime.memory import host_memory
from shardc.runtime.reader_threads import Windows, cores, one_torch_thread, threads_for
from shardc.runtime.windows import Window

from .devices import open_files

pytestmark = pytest.mark.usefixtures("torch_threads")

KIB = 1024


def test_threads_that_copy_and_threads_that_wait_for_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as cores, 4 at most, unless one of the windows that are looked at is not in the page cache."""
    memory, looked_at = host_memory(64), []

    def cached(_: SourceFile, begin: int, end: int) -> object:
        looked_at.append((begin, end))
        return None if end in absent else memory

    monkeypatch.setattr(SourceFile, "cached", cached)
    monkeypatch.setattr(reader_threads, "cores", lambda: 3)
    path = tmp_path / "x.safetensors"
    path.touch()
    windows: Windows = {path: [Window(k * KIB, k * KIB + 8, (), direct=False) for k in range(32)]}
    absent: set[int] = set()
    assert threads_for(windows) == 3
    assert looked_at == [(k * 4 * KIB, k * 4 * KIB + 8) for k in range(8)]
    assert threads_for({path: windows[path][:3]}) == 3
    assert len(looked_at) == 11
    monkeypatch.setattr(reader_threads, "cores", lambda: 64)
    assert threads_for(windows) == 4
    absent.add(12 * KIB + 8)
    assert threads_for(windows) == 8
    assert threads_for({}) == 4
    assert open_files(path.parent) == []


def test_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3, 4}, raising=False)
    assert cores() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert cores() == 6
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cores() == 1


def test_the_number_of_threads_comes_back_after_an_error() -> None:
    torch.set_num_threads(2)
    with pytest.raises(ValueError, match="no"), one_torch_thread():
        assert torch.get_num_threads() == 1
        raise ValueError("no")
    assert torch.get_num_threads() == 2
