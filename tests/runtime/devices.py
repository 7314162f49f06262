"""A device that is none: host memory whose copies are made late, by a thread, as a stream of a real one does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from shardc.runtime import reading
from shardc.runtime.rings import Ring
from shardc.runtime.streams import staging_memory
from shardc.runtime.uploads import Uploader, packed_bytes


class LateCopies(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Copies made inside are left for later."""

    def __init__(self, later: Callable[[Callable[[], object]], object]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.later = later

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.overloadpacket.__name__ in {"copy_", "index_copy_", "index_put_"}:
            self.later(lambda: func(*args, **(kwargs or {})))
            return args[0]
        return func(*args, **(kwargs or {}))


class LateStream:
    """Copies are made in their order by one thread, each after a pause; `mark` waits for those before it.

    It fails at an entry. Those after it go on once `known` is set, as it is where the reader hears of the failure.
    """

    non_blocking = True

    def __init__(self, pause: float = 0.001, fail_at: int | None = None, known: Event | None = None) -> None:
        self.queue: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        self.pause = Event()
        self.seconds = pause
        self.fail_at = fail_at
        self.known = known
        self.entries = 0
        self.lock = Lock()
        self.thread = Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self) -> None:
        while action := self.queue.get():
            self.pause.wait(self.seconds)
            action()

    @contextmanager
    def entered(self) -> Iterator[None]:
        with self.lock:
            self.entries += 1
            entry = self.entries
        if self.fail_at and self.known and entry > self.fail_at:
            assert self.known.wait(10), "the failure is not told"
        with LateCopies(self.queue.put):
            yield
        if entry == self.fail_at:
            raise RuntimeError("the device is lost")

    def mark(self) -> Callable[[], object]:
        done = Event()
        self.queue.put(done.set)
        return lambda: done.wait(10) or (_ for _ in ()).throw(AssertionError("never copied"))

    def close(self) -> None:
        self.queue.put(None)
        self.thread.join(10)


def device_of(stream: LateStream) -> Callable[..., dict[torch.device, Uploader]]:
    """The host, taken for a device that copies late."""

    def uploaders_for(windows: reading.Windows, threads: int) -> dict[torch.device, Uploader]:
        most = max(sum(map(packed_bytes, window.pieces)) for those in windows.values() for window in those)
        ring = Ring(staging_memory(most, pinned=False) for _ in range(2 * threads))
        return {torch.device("cpu"): Uploader(ring, stream)}

    return uploaders_for


def open_files(directory: Path) -> list[str]:
    names = [str(each.resolve()) for each in Path("/proc/self/fd").iterdir()]
    return [name for name in [*names, *Path("/proc/self/maps").read_text().splitlines()] if str(directory) in name]
