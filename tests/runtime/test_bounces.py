import threading

import pytest

from shardc.runtime.bounces import Bounces


def test_one_buffer_for_all_windows() -> None:
    bounces = Bounces(1)
    with bounces.room(67, 1000) as (first, origin):
        assert (origin, first.flat.data_ptr() % 64) == (64, 0)
    with bounces.room(128, 5000) as same:
        assert same == (first, 128)
    with bounces.room(1, 16 << 20) as (wide, origin):
        assert (origin, wide.flat.data_ptr() % 64) == (0, 0)
        assert wide.flat.nbytes >= 16 << 20
    with bounces.room(0, 16 << 20) as same:
        assert same == (wide, 0)


def test_a_buffer_that_is_in_use_is_waited_for() -> None:
    bounces, waiting, order = Bounces(1), threading.Event(), []

    def second() -> None:
        waiting.set()
        with bounces.room(0, 8):
            order.append("second")

    thread = threading.Thread(target=second)
    with pytest.raises(ValueError, match="no"), bounces.room(0, 8):
        thread.start()
        waiting.wait(10)
        order.append("first")
        raise ValueError("no")
    thread.join(10)
    assert order == ["first", "second"]
