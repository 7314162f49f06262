from threading import Event, Thread

import pytest

from shardc.runtime.memory import host_memory
from shardc.runtime.rings import Ring


def ring(buffers: int) -> Ring:
    return Ring(host_memory(64) for _ in range(buffers))


def test_buffers_are_given_in_turn() -> None:
    three = ring(3)
    seen = []
    for _ in range(7):
        with three.slot() as slot:
            seen.append(three.slots.index(slot))
    assert seen == [0, 1, 2, 0, 1, 2, 0]


def test_a_buffer_is_waited_for_before_it_is_filled_again() -> None:
    two, order = ring(2), []
    for number in range(5):
        with two.slot() as slot:
            order.append(f"fill {number}")
            slot.waits.append(lambda number=number: order.append(f"read {number}"))
    assert order == ["fill 0", "fill 1", "read 0", "fill 2", "read 1", "fill 3", "read 2", "fill 4"]
    two.wait()
    assert sorted(order[8:]) == ["read 3", "read 4"]
    two.wait()
    assert len(order) == 10


def test_all_waits_of_one_buffer() -> None:
    one, order = ring(1), []
    with one.slot() as slot:
        slot.waits += [lambda: order.append(1), lambda: order.append(2)]
    with one.slot():
        assert order == [1, 2]


def test_an_error_gives_the_buffer_back() -> None:
    one = ring(1)
    with pytest.raises(ValueError, match="no"), one.slot():
        raise ValueError("no")
    with one.slot() as slot:
        assert slot is one.slots[0]


def test_a_wait_that_fails_gives_the_buffer_back() -> None:
    def lost() -> None:
        raise RuntimeError("the device is lost")

    one = ring(1)
    with one.slot() as slot:
        slot.waits.append(lost)
    with pytest.raises(RuntimeError, match="lost"), one.slot():
        raise AssertionError("unreachable")
    with one.slot() as slot:
        assert slot.waits == []


def test_a_thread_waits_for_a_free_buffer() -> None:
    one, inside, may_leave, order = ring(1), Event(), Event(), []

    def first() -> None:
        with one.slot():
            inside.set()
            may_leave.wait(10)
            order.append("first")

    def second() -> None:
        with one.slot():
            order.append("second")

    threads = [Thread(target=first), Thread(target=second)]
    threads[0].start()
    inside.wait(10)
    threads[1].start()
    assert order == []
    may_leave.set()
    for thread in threads:
        thread.join(10)
    assert order == ["first", "second"]
