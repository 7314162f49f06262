import io
import mmap
import weakref
from pathlib import Path

import pytest
import torch

from shardc.runtime.buffers import Buffer
from shardc.runtime.dtypes import TORCH_DTYPES
from shardc.runtime.memory import HUGE_PAGE, Memory, host_memory, memory_on, rooms_for

CPU = torch.device("cpu")
SIZES = [1, 63, 64, 4096, HUGE_PAGE - 1, HUGE_PAGE, HUGE_PAGE + 1, 3 * HUGE_PAGE]


@pytest.mark.parametrize("size", SIZES)
def test_memory_begins_at_a_multiple(size: int) -> None:
    memory = host_memory(size)
    assert memory.flat.nbytes == size
    assert memory.flat.data_ptr() % (HUGE_PAGE if size >= HUGE_PAGE else 64) == 0
    assert memory.flat.storage_offset() == 0
    memory.flat.fill_(7)
    assert memory.flat.sum() == 7 * size


def test_no_memory_at_all() -> None:
    memory = host_memory(0)
    assert memory.flat.shape == (0,)
    assert memory.tensor(0, (0, 3), torch.float32).shape == (0, 3)


@pytest.mark.parametrize("size", [4096, 2 * HUGE_PAGE])
@pytest.mark.parametrize("name", TORCH_DTYPES)
def test_a_tensor_has_just_its_bytes(size: int, name: str) -> None:
    memory = host_memory(size)
    memory.flat.zero_()
    tensor = memory.tensor(128, (2, 3), TORCH_DTYPES[name])
    assert (tensor.shape, tensor.dtype) == ((2, 3), TORCH_DTYPES[name])
    assert tensor.untyped_storage().nbytes() == 6 * tensor.itemsize
    assert tensor.storage_offset() == 0
    assert tensor.data_ptr() == memory.flat.data_ptr() + 128
    assert memory.typed(tensor.dtype) is memory.typed(tensor.dtype)
    memory.flat[128] = 1
    assert tensor.view(torch.uint8)[0, 0] == 1


@pytest.mark.parametrize("size", [4096, 2 * HUGE_PAGE])
def test_a_tensor_is_saved_without_the_rest(size: int) -> None:
    file = io.BytesIO()
    torch.save(host_memory(size).tensor(0, (4,), torch.float32), file)
    assert len(file.getvalue()) < 2000


def test_a_tensor_keeps_its_mapping() -> None:
    memory = host_memory(HUGE_PAGE)
    assert memory.pages is not None
    pages = weakref.ref(memory.pages)
    tensor = memory.tensor(0, (4,), torch.float32)
    del memory
    assert pages() is not None
    tensor.fill_(1)
    del tensor
    assert pages() is None


BUFFERS = [
    Buffer("a", "F32", (3,)),
    Buffer("b", "U8", (HUGE_PAGE,)),
    Buffer("c", "BF16", ()),
    Buffer("d", "F32", (0, 4)),
    Buffer("e", "F64", (1,)),
]


def test_rooms_in_one_slab() -> None:
    rooms = rooms_for(BUFFERS, CPU, separate=False)
    assert [room.offset for room in rooms.values()] == [0, 64, 64 + HUGE_PAGE, 128 + HUGE_PAGE, 128 + HUGE_PAGE]
    assert len({id(room.memory) for room in rooms.values()}) == 1
    assert rooms["a"].memory.flat.nbytes == HUGE_PAGE + 192
    assert rooms["c"].tensor().shape == ()
    assert rooms["d"].tensor().shape == (0, 4)


def test_rooms_of_their_own() -> None:
    rooms = rooms_for(BUFFERS, CPU, separate=True)
    assert [room.offset for room in rooms.values()] == [0] * 5
    assert [room.memory.flat.nbytes for room in rooms.values()] == [64, HUGE_PAGE, 64, 0, 64]
    pages = rooms["b"].memory.pages
    assert isinstance(pages, mmap.mmap)
    gone = weakref.ref(pages)
    del pages
    kept = {name: room.tensor() for name, room in rooms.items()}
    del rooms
    assert gone() is not None
    del kept["b"]
    assert gone() is None


@pytest.mark.parametrize("separate", [False, True])
def test_no_rooms(separate: bool) -> None:
    assert rooms_for([], CPU, separate=separate) == {}


def test_a_system_without_huge_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(mmap, "MADV_HUGEPAGE", raising=False)
    assert host_memory(HUGE_PAGE).flat.data_ptr() % HUGE_PAGE == 0


def test_a_system_that_refuses_huge_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mmap, "MADV_HUGEPAGE", 9999, raising=False)  # EINVAL, as of a kernel built without them
    assert host_memory(HUGE_PAGE).flat.data_ptr() % HUGE_PAGE == 0


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="needs Linux")
def test_huge_pages_are_asked_for() -> None:
    memory = host_memory(2 * HUGE_PAGE)
    memory.flat.fill_(1)
    found, inside = "", False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        first, _, _ = line.partition(" ")
        if "-" in first:
            low, high = (int(part, 16) for part in first.split("-"))
            inside = low <= memory.flat.data_ptr() < high
        elif inside and line.startswith("VmFlags"):
            found = line
    assert " hg" in found


def test_bytes_to_write_to() -> None:
    for memory in (host_memory(8), host_memory(HUGE_PAGE), Memory(torch.zeros(8, dtype=torch.uint8))):
        memory.flat.zero_()
        assert len(memory.bytes) == memory.flat.nbytes
        memory.bytes[4:8] = b"\1\0\0\0"
        assert memory.typed(torch.int32)[:2].tolist() == [0, 1]


def test_bytes_at_the_end_that_make_no_element() -> None:
    assert Memory(torch.arange(7).to(torch.uint8)).typed(torch.int16).tolist() == [0x0100, 0x0302, 0x0504]


def test_memory_on_a_device_is_one_tensor() -> None:
    memory = memory_on(torch.device("meta"), 128)
    assert memory.pages is None
    assert memory.tensor(64, (2, 2), torch.float32).storage_offset() == 16
