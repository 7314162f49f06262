import ctypes
import errno
import mmap
import os
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import shardc.runtime as rt
from shardc.runtime import files
from shardc.runtime.files import SourceFile

BYTES = bytes(range(251)) * 100


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "x.safetensors"
    path.write_bytes(BYTES)
    return path


def read(file: SourceFile, begin: int, count: int) -> tuple[int, bytes]:
    into = bytearray(count)
    return file.read([memoryview(into)], begin), bytes(into)


def test_bytes_from_anywhere(path: Path) -> None:
    file = SourceFile(path)
    assert read(file, 3, 5) == (5, b"\3\4\5\6\7")
    assert read(file, 25098, 5) == (2, b"\xf9\xfa\0\0\0")
    assert read(file, 30000, 2) == (0, b"\0\0")
    assert read(file, 0, 0) == (0, b"")
    file.close()


def test_reads_that_stop_short(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    preadv = os.preadv
    monkeypatch.setattr(os, "preadv", lambda descriptor, into, at: preadv(descriptor, [into[0][:7]], at))
    file = SourceFile(path)
    assert read(file, 1, 1000) == (1000, BYTES[1:1001])
    file.close()


@pytest.mark.parametrize("most", [1, 7, 30, 1000])
def test_several_memories_at_once(path: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """However many bytes the system reads at once, in whichever memory that ends."""
    preadv = os.preadv

    def short(descriptor: int, into: list[memoryview], at: int) -> int:
        found = os.pread(descriptor, most, at)
        return preadv(descriptor, into, at) if most == 1000 else scattered(found, into)

    monkeypatch.setattr(os, "preadv", short)
    file = SourceFile(path)
    memories = [bytearray(size) for size in (10, 20, 3, 67)]
    assert file.read(map(memoryview, memories), 5) == 100
    assert b"".join(memories) == BYTES[5:105]
    assert file.read(map(memoryview, memories), len(BYTES) - 25) == 25
    assert b"".join(memories[:2])[:25] == BYTES[-25:]
    file.close()


def scattered(found: bytes, into: list[memoryview]) -> int:
    """What the system does with bytes for several memories."""
    at = 0
    for memory in into:
        part = found[at : at + len(memory)]
        memory[: len(part)] = part
        at += len(part)
    return at


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(rt.ShardError) as caught:
        SourceFile(tmp_path / "x.safetensors")
    assert caught.value.findings == (("SHD406", "x.safetensors: No such file or directory"),)


def test_what_the_page_cache_has(path: Path) -> None:
    file = SourceFile(path)
    found = file.cached(5, 10000)
    assert found is not None  # it was just written
    assert bytes(found.flat[5:10000].tolist()) == BYTES[5:10000]
    file.drop(5, 10000)
    assert bytes(found.flat[5:10000].tolist()) == BYTES[5:10000]
    assert file.cached(25000, 25101) is None
    file.close()
    assert bytes(found.flat[5:10].tolist()) == BYTES[5:10]


def test_a_file_that_has_become_shorter_is_not_looked_at(path: Path) -> None:
    """A page that is gone would end the process."""
    file = SourceFile(path)
    assert file.cached(0, 25100) is not None
    os.truncate(path, 100)
    assert file.cached(0, 25100) is None
    assert read(file, 0, 200)[0] == 100
    file.close()


def test_nothing_stays_mapped_or_open(path: Path) -> None:
    file = SourceFile(path)
    assert file.cached(0, 100) is not None
    file.close()
    if Path("/proc/self/maps").exists():
        assert str(path) not in Path("/proc/self/maps").read_text()
        assert str(path) not in [str(each.resolve()) for each in Path("/proc/self/fd").iterdir()]


def test_pages_that_are_not_there(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def mincore(address: ctypes.c_void_p, length: ctypes.c_size_t, found: ctypes.Array[ctypes.c_char]) -> int:
        found.raw = b"\1" * (len(found) - 1) + b"\0"
        return 0

    monkeypatch.setattr(files, "LIBC_MINCORE", mincore)
    file = SourceFile(path)
    assert file.cached(0, 10000) is None
    file.close()


def test_a_system_that_fails_to_tell(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LIBC_MINCORE", lambda *_: -1)
    file = SourceFile(path)
    assert file.cached(0, 100) is None
    file.close()


def test_a_system_without_mincore(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LIBC_MINCORE", None)
    file = SourceFile(path)
    assert file.cached(0, 100) is None
    file.drop(0, 100)
    file.close()


@pytest.mark.parametrize(("may_write", "is_looked_at"), [(False, False), (True, True)])
def test_a_file_of_another(path: Path, monkeypatch: pytest.MonkeyPatch, may_write: bool, is_looked_at: bool) -> None:
    """Of which Linux says that all pages are cached, unless this process may write to it."""
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    monkeypatch.setattr(os, "access", lambda *_: may_write)
    file = SourceFile(path)
    assert (file.cached(0, 100) is not None) == is_looked_at
    file.close()


def test_a_system_that_cannot_drop_pages(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(mmap, "MADV_DONTNEED")
    file = SourceFile(path)
    assert file.cached(0, 100) is None
    file.drop(0, 100)
    file.close()


def test_a_file_that_cannot_be_mapped(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENODEV, "no")

    monkeypatch.setattr(mmap, "mmap", refuse)
    file = SourceFile(path)
    assert file.cached(0, 100) is None
    file.drop(0, 100)
    file.close()


def test_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    file = SourceFile(tmp_path / "x")
    assert file.cached(0, 1) is None
    assert read(file, 0, 1) == (0, b"\0")
    file.close()


def test_a_file_is_mapped_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    real = mmap.mmap

    def counted(*args: int, **kwargs: int) -> mmap.mmap:
        made.append(real(*args, **kwargs))
        return made[-1]

    monkeypatch.setattr(mmap, "mmap", counted)
    file = SourceFile(path)
    with ThreadPoolExecutor(8) as pool:
        assert None not in list(pool.map(lambda _: file.cached(0, 25100), range(50)))
    assert len(made) == 1
    file.close()


def test_no_warning_of_memory_that_cannot_be_written_to(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        file = SourceFile(path)
        assert file.cached(0, 100) is not None
        file.close()
