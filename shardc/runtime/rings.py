"""Host buffers that are filled in turn while a device still reads those filled before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue

from shardc.runtime.memory import Memory

Wait = Callable[[], object]  # returns once a device has read what was given to it


class Slot:
    """One buffer of a ring, and what to wait for before it is filled again."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.waits: list[Wait] = []

    def wait(self) -> None:
        """Returns once no device reads it any more."""
        while self.waits:
            self.waits.pop(0)()


class Ring:
    """Buffers for several threads, as many as there are threads at least: each has one at a time."""

    def __init__(self, buffers: Iterable[Memory]) -> None:
        self.slots = [Slot(memory) for memory in buffers]
        self.free: SimpleQueue[Slot] = SimpleQueue()
        for slot in self.slots:
            self.free.put(slot)

    @contextmanager
    def slot(self) -> Iterator[Slot]:
        """A buffer that no device reads any more; who fills it adds to its `waits`. It is the one free for longest."""
        slot = self.free.get()
        try:
            slot.wait()
            yield slot
        finally:
            self.free.put(slot)

    def wait(self) -> None:
        """Returns once the devices have read all buffers."""
        for slot in self.slots:
            slot.wait()
