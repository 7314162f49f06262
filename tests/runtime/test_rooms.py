import pytest
import torch

from shardc.runtime.buffers import Buffer
from shardc.runtime.headers import Header
from shardc.runtime.moves import rows_kept
from shardc.runtime.placing import Fill, Placing
from shardc.runtime.preparing import RankPart
from shardc.runtime.regions import Spans
from shardc.runtime.rooms import rooms_of, tensors_of, write_unread
from shardc.runtime.shards import Layout, Shard

CPU = torch.device("cpu")
HEADERS = {
    "late": Header("F32", (4,), "b", 8, 24),
    "early": Header("F32", (8,), "b", 0, 8),
    "first": Header("F32", (2,), "a", 90, 98),
}


def shard(name: str, at: Spans, values: tuple[int, ...] | None = None) -> Shard:
    header = HEADERS[name]
    return Shard(name, Layout("", "dense", "F32", ("F32",), None, header.shape, (at,), values=values))


def own(one: Shard) -> Fill:
    return Fill(one, Buffer(one.name, "F32", one.local_shape), Placing(one.local_shape))


PART = RankPart(
    [own(shard("late", ((0, 2, 2),))), own(shard("early", ((0, 8, 0),))), own(shard("first", ((0, 2, 0),), (8, 4)))],
    {"twin": "early"},
    HEADERS,
)


@pytest.mark.parametrize("separate", [False, True])
def test_in_the_order_of_the_files(separate: bool) -> None:
    rooms = rooms_of(PART, CPU, separate=separate)
    offsets = {name: room.offset for name, room in rooms.items()}
    assert list(offsets) == ["late", "early", "first"]
    assert offsets == ({"first": 0, "early": 0, "late": 0} if separate else {"first": 0, "early": 64, "late": 128})


def test_an_output_lies_where_its_first_tensor_does() -> None:
    out = Buffer("out", "F32", (6,))
    moves = [rows_kept(2, 0), rows_kept(4, 2)]
    fills = [
        Fill(shard("late", ((0, 4, 0),)), out, Placing((6,), None, 0, moves[1])),
        own(shard("early", ((0, 8, 0),))),
        Fill(shard("first", ((0, 2, 0),)), out, Placing((6,), None, 0, moves[0])),
    ]
    rooms = rooms_of(RankPart(fills, {}, HEADERS), CPU, separate=False)
    assert list(rooms) == ["out", "early"]
    assert {name: room.offset for name, room in rooms.items()} == {"out": 0, "early": 64}


def test_padding_and_values_are_written() -> None:
    rooms = rooms_of(PART, CPU, separate=False)
    for room in rooms.values():
        room.tensor().fill_(9)
    write_unread(PART, rooms)
    assert {name: room.tensor().tolist() for name, room in rooms.items()} == {
        "first": [8, 4],
        "early": [9] * 8,
        "late": [9, 9, 0, 0],
    }


def test_slices_that_are_no_tensor_are_zero() -> None:
    fill = Fill(shard("late", ((0, 4, 0),)), Buffer("out", "F32", (3, 4), 2), Placing((3, 4), 0))
    part = RankPart([fill], {}, HEADERS)
    rooms = rooms_of(part, CPU, separate=False)
    rooms["out"].tensor().fill_(9)
    write_unread(part, rooms)
    assert rooms["out"].tensor().tolist() == [[9] * 4, [9] * 4, [0] * 4]


def test_tensors_in_the_order_of_the_spec() -> None:
    found = tensors_of(rooms_of(PART, CPU, separate=False), PART.twins)
    assert list(found) == ["late", "early", "first", "twin"]
    assert found["twin"] is found["early"]
