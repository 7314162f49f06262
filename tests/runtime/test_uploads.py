from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
import torch
from hypothesis import given

from shardc.runtime.memory import Memory, host_memory
from shardc.runtime.pieces import Piece
from shardc.runtime.preparing import RankPart
from shardc.runtime.rings import Ring
from shardc.runtime.rooms import write_unread
from shardc.runtime.streams import Immediate, staging_memory
from shardc.runtime.strides import Block, Copy
from shardc.runtime.uploads import Uploader, pack, packed_bytes

from .conftest import CopyCounter
from .copying import Drawn, bytes_of, drawn, expected, rooms_with_noise, windows_for
from .devices import LateStream


@pytest.fixture
def late() -> Iterator[LateStream]:
    stream = LateStream()
    yield stream
    stream.close()


def ring(buffers: int, size: int) -> Ring:
    return Ring(staging_memory(size, pinned=False) for _ in range(buffers))


def cols(memory: Memory, begin: int = 8, cast: torch.dtype = torch.int16) -> Piece:
    """Two of four columns of three rows, to the last three rows of a tensor of four columns."""
    copy = Copy((3, 2), Block(0, (4, 1)), Block(4, (4, 1)))
    return Piece(begin, begin + 20, "w", copy, 32, memory, torch.int16, cast, False)


def test_pieces_are_packed_one_behind_the_other() -> None:
    memory, buffer = host_memory(256), host_memory(256)
    pieces = [cols(memory), cols(memory, 28, torch.float32)]
    into, out = pack(pieces, buffer)
    assert list(map(packed_bytes, pieces)) == [64, 64]
    assert [(each.copy.target, each.start, each.cast) for each in into] == [
        (Block(0, (2, 1)), 0, torch.int16),
        (Block(0, (2, 1)), 32, torch.int16),
    ]
    assert [each.memory for each in into] == [buffer, buffer]
    assert [(each.begin, each.end, each.cast) for each in out] == [(0, 12, torch.int16), (64, 76, torch.float32)]
    assert out[0].copy == Copy((3, 2), Block(0, (2, 1)), Block(4, (4, 1)))
    assert [each.memory for each in out] == [memory, memory]


def test_all_pieces_of_a_window_cross_at_once(copy_counter: CopyCounter) -> None:
    """A hundred small pieces: one copy into the buffer, one across (none here), and one to where they stay."""
    memory = host_memory(8192)
    uploader = Uploader(ring(2, 6400), Immediate())
    copy = Copy((2,), Block(0, (1,)), Block(0, (1,)))
    pieces = [
        Piece(8 * i, 8 * i + 8, "w", copy, 16 * i, memory, torch.float32, torch.float32, False) for i in range(100)
    ]
    with copy_counter:
        uploader.deal(Memory(torch.arange(200.0).view(torch.uint8)), 0, pieces)
    assert (copy_counter.copies, copy_counter.others) == (2, [])
    assert memory.typed(torch.float32).view(-1, 16)[:100, :2].flatten().tolist() == list(range(200))


def fill(buffers: list[memoryview], value: int) -> None:
    for buffer in buffers:
        buffer[:] = bytes([value]) * len(buffer)


def test_no_buffer_is_filled_before_the_device_has_read_it(late: LateStream) -> None:
    memory = host_memory(64 * 4)
    memory.flat.zero_()
    uploader = Uploader(ring(2, 64), late)
    copy = Copy((16,), Block(0, (1,)), Block(0, (1,)))

    def one(number: int) -> None:
        piece = Piece(0, 16, "w", copy, 16 * number, memory, torch.uint8, torch.uint8, True)
        if number % 2:
            uploader.read(piece, partial(fill, value=number + 1))
        else:
            uploader.deal(Memory(torch.full((16,), number + 1, dtype=torch.uint8)), 0, [piece])

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(one, number) for number in range(16)]:
            done.result()
    uploader.ring.wait()
    assert memory.flat.view(16, 16)[:, 0].tolist() == list(range(1, 17))
    assert memory.flat.view(16, 16)[:, 15].tolist() == list(range(1, 17))


def test_what_is_begun_before_an_error_is_waited_for() -> None:
    stream = LateStream(fail_at=1)
    memory = host_memory(64)
    memory.flat.zero_()
    uploader = Uploader(ring(1, 64), stream)
    piece = Piece(0, 4, "w", Copy((4,), Block(0, (1,)), Block(0, (1,))), 0, memory, torch.uint8, torch.uint8, True)
    with pytest.raises(RuntimeError, match="the device is lost"):
        uploader.read(piece, partial(fill, value=3))
    uploader.read(piece._replace(start=8), partial(fill, value=4))
    uploader.ring.wait()
    assert memory.flat[:12].tolist() == [3] * 4 + [0] * 4 + [4] * 4
    stream.close()


def test_a_read_that_fails_gives_the_buffer_back(late: LateStream) -> None:
    uploader = Uploader(ring(1, 64), late)
    piece = Piece(
        0, 4, "w", Copy((4,), Block(0, (1,)), Block(0, (1,))), 0, host_memory(64), torch.uint8, torch.uint8, True
    )

    def fail(_: list[memoryview]) -> None:
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        uploader.read(piece, fail)
    with uploader.ring.slot() as slot:
        assert slot.waits == []


@given(drawn())
def test_a_device_gets_what_slices_say(drawn: Drawn) -> None:
    stream = LateStream(pause=0)
    rooms, before = rooms_with_noise(drawn)
    for fills, own in zip(drawn.ranks, rooms, strict=True):
        write_unread(RankPart(fills, {}, drawn.headers), own)
    file, windows = Memory(drawn.file.clone()), windows_for(drawn, rooms)
    most = max((sum(map(packed_bytes, window.pieces)) for window in windows), default=0)
    uploader = Uploader(ring(2, most), stream)
    for window in windows:
        uploader.deal(file, 0, window.pieces)
    uploader.ring.wait()
    stream.close()
    for fills, own in zip(drawn.ranks, rooms, strict=True):
        for fill in fills:
            name = fill.buffer.name
            assert torch.equal(bytes_of(own[name].tensor()), bytes_of(expected(drawn, fill, before[name]))), name
