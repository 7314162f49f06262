from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from shardc.runtime.bounces import Bounces
from shardc.runtime.dealing import by_form, deal, runs_of
from shardc.runtime.memory import Memory, host_memory
from shardc.runtime.pieces import Piece
from shardc.runtime.preparing import RankPart
from shardc.runtime.rooms import write_unread
from shardc.runtime.strides import Block, Copy
from shardc.runtime.windows import taken_together

from .conftest import CopyCounter
from .copying import Drawn, bytes_of, drawn, expected, pairs, rooms_with_noise, small_windows, windows_for

ONE, TWO = host_memory(4096), host_memory(4096)


def piece(
    begin: int,
    start: int,
    memory: Memory = ONE,
    shape: tuple[int, ...] = (2,),
    dtype: torch.dtype = torch.float32,
    cast: torch.dtype = torch.float32,
) -> Piece:
    """So many elements next to each other, from a byte of the file to an element of memory."""
    copy = Copy(shape, Block(0, (1,)), Block(0, (1,)))
    return Piece(begin, begin + shape[0] * dtype.itemsize, "w", copy, start, memory, dtype, cast, False)


def batched(pieces: list[Piece]) -> list[Piece]:
    """The copies that are made of pieces."""
    return [run for alike in by_form(pieces) for run in runs_of(alike)]


def runs(pieces: list[Piece]) -> list[tuple[int, tuple[int, ...]]]:
    """(begin, shape) of the copies that are made of pieces."""
    return [(each.begin, each.copy.shape) for each in batched(pieces)]


def test_a_constant_distance_is_one_copy() -> None:
    [one] = batched([piece(100 + 40 * i, 16 * i) for i in range(50)])
    assert one.copy == Copy((50, 2), Block(0, (10, 1)), Block(0, (16, 1)))
    assert (one.begin, one.end) == (100, 100 + 49 * 40 + 8)


def test_a_distance_that_breaks_begins_a_new_copy() -> None:
    begins = [0, 40, 80, 130, 180, 230, 240]
    assert runs([piece(begin & ~3, 16 * i) for i, begin in enumerate(begins)]) == [
        (0, (3, 2)),
        (128, (2, 2)),
        (228, (2, 2)),
    ]


def test_memory_further_back_begins_a_new_copy() -> None:
    assert runs([piece(0, 64), piece(8, 0), piece(16, 128)]) == [(0, (2,)), (8, (2, 2))]
    assert runs([piece(8, 0), piece(0, 64)]) == [(8, (2,)), (0, (2,))]


def test_two_memories_are_two_copies() -> None:
    mixed = [piece(8 * i, 16 * (i // 2), (ONE, TWO)[i % 2]) for i in range(8)]
    assert runs(mixed) == [(0, (4, 2)), (8, (4, 2))]


def test_the_same_bytes_to_several_places() -> None:
    [one] = batched([piece(8, 16 * i) for i in range(3)])
    assert one.copy.source.strides == (0, 1)
    assert (one.begin, one.end) == (8, 16)


def test_other_forms_dtypes_and_phases_are_apart() -> None:
    pieces = [
        piece(0, 0),
        piece(8, 16, shape=(3,)),
        piece(20, 32, dtype=torch.int32, cast=torch.int32),
        piece(28, 48, cast=torch.float64),
        piece(37, 64),
    ]
    assert batched(pieces) == pieces


def test_nothing_to_copy() -> None:
    assert batched([]) == []


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), st.booleans(), st.integers(1, 2)), max_size=12))
def test_the_same_copies_however_they_are_grouped(drawn: list[tuple[int, int, bool, int]]) -> None:
    pieces = [piece(begin, start, ONE if one else TWO, (size,)) for begin, start, one, size in drawn]

    def copied(pieces: list[Piece]) -> list[tuple[int, int, int]]:
        return sorted(
            (id(each.memory), each.begin + source * 4, each.start + target)
            for each in pieces
            for source, target in pairs(each.copy)
        )

    grouped = batched(pieces)
    assert copied(grouped) == copied(pieces)
    assert all(each.end == max(each.begin + source * 4 for source, _ in pairs(each.copy)) + 4 for each in grouped)


@pytest.mark.parametrize("skip", [0, 1, 3])
@pytest.mark.parametrize("cast", [torch.float32, torch.float64])
def test_scalars_of_experts_are_one_copy(copy_counter: CopyCounter, cast: torch.dtype, skip: int) -> None:
    """Two scalars of each of 200 experts, in the order of their names, to rows of two tensors."""
    file = torch.cat([torch.zeros(skip, dtype=torch.uint8), torch.arange(400.0).view(torch.uint8)])
    experts = sorted(range(200), key=str)
    pieces = [
        piece(skip + 8 * place + 4 * which, 256 * which + expert, shape=(1,), cast=cast)
        for place, expert in enumerate(experts)
        for which in (0, 1)
    ]
    with copy_counter:
        deal(Memory(file), 0, pieces[:200])
        deal(Memory(file), 0, pieces[:199:-1])
    assert copy_counter.copies == 0
    assert len(copy_counter.others) <= 8
    memory = ONE.typed(cast)
    assert [memory[expert].item() for expert in experts] == [2.0 * place for place in range(200)]
    assert [memory[256 + expert].item() for expert in experts] == [2.0 * place + 1 for place in range(200)]


@pytest.mark.parametrize("begin", [0, 1, 2, 6])
def test_bytes_that_are_not_aligned(begin: int) -> None:
    file = torch.arange(64).to(torch.uint8)
    deal(Memory(file), 0, [piece(begin, 3)])
    assert ONE.flat[12:20].tolist() == list(range(begin, begin + 8))


def test_the_cast_is_part_of_the_copy(copy_counter: CopyCounter) -> None:
    file = torch.tensor([1.0, 2.0, 3.0]).view(torch.uint8)
    with copy_counter:
        deal(Memory(file), 0, [piece(4, 1, cast=torch.bfloat16)])
    assert ONE.typed(torch.bfloat16)[1:3].tolist() == [2.0, 3.0]
    assert (copy_counter.copies, copy_counter.others) == (1, [])


@given(
    drawn(), st.sampled_from([16, 64, 4096]), st.sampled_from([1, 8, 32]), st.sampled_from([0, 4, 32]), st.booleans()
)
def test_what_loading_leaves_is_what_slices_say(
    drawn: Drawn, window: int, direct: int, gap: int, is_mapped: bool
) -> None:
    """Windows of any size, read into a buffer or looked at in a mapping; nothing else is written to."""
    rooms, before = rooms_with_noise(drawn)
    bounces, file = Bounces(1), Memory(drawn.file)
    for fills, own in zip(drawn.ranks, rooms, strict=True):
        write_unread(RankPart(fills, {}, drawn.headers), own)
    limits = small_windows(window, direct, gap)
    for together in taken_together(windows_for(drawn, rooms, limits), limits):
        for one in together:
            if one.direct:
                for each in one.pieces:
                    each.bytes[:] = file.bytes[each.begin : each.end]
            elif not is_mapped:
                with bounces.room(one.begin, one.end) as (there, origin):
                    there.bytes[one.begin - origin : one.end - origin] = file.bytes[one.begin : one.end]
                    deal(there, origin, one.pieces)
        if is_mapped:
            deal(file, 0, [piece for one in together if not one.direct for piece in one.pieces])
    for fills, own in zip(drawn.ranks, rooms, strict=True):
        for fill in fills:
            name = fill.buffer.name
            found = own[name].tensor()
            assert torch.equal(bytes_of(found), bytes_of(expected(drawn, fill, before[name]))), name
        for room, following in pairwise(own.values()):
            assert room.offset % 64 == 0
            assert following.offset - room.offset >= room.tensor().nbytes
