"""Buffers that windows of files are read into, where they can't be looked at in the page cache."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue

from shardc.runtime.limits import LOCAL
from shardc.runtime.memory import ALIGNMENT, Memory, host_memory


class Bounces:
    """Buffers for several threads, fewer than there are perhaps: a thread waits until one is free."""

    def __init__(self, count: int) -> None:
        self.free: SimpleQueue[Memory] = SimpleQueue()
        for _ in range(count):
            self.free.put(host_memory(0))

    @contextmanager
    def room(self, begin: int, end: int) -> Iterator[tuple[Memory, int]]:
        """Room for bytes begin .. end of a file, and which byte its first stands for.

        Elements are aligned as they are in the file.
        """
        origin = begin - begin % ALIGNMENT
        memory = self.free.get()
        try:
            if memory.flat.numel() < end - origin:
                memory = host_memory(max(LOCAL.window, end - begin) + ALIGNMENT)
            yield memory, origin
        finally:
            self.free.put(memory)
