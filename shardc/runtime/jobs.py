"""What threads have to read, handed out a few windows at a time, in the files' order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Lock

from shardc.runtime.files import OpenFile, open_file
from shardc.runtime.limits import Limits
from shardc.runtime.locations import Location
from shardc.runtime.reader_threads import Windows
from shardc.runtime.windows import Window, taken_together

Done = Callable[[int], object]  # bytes that windows have filled


class Jobs:
    """The windows still to be read, handed to threads a few at a time; a file is open from its first to its last.

    They are taken out of `windows`: what has been read is not kept.
    """

    def __init__(self, windows: Windows, limits: Limits, done: Done | None) -> None:
        self.waiting: Iterator[tuple[Location, list[Window]]] = (
            (path, together) for path in windows for together in taken_together(windows[path], limits)
        )
        self.left = {path: len(windows[path]) for path in windows}
        self.open: dict[Location, OpenFile] = {}
        self.done = done
        self.errors: list[BaseException] = []
        self.lock = Lock()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        for file in self.open.values():
            file.close()

    def __iter__(self) -> Iterator[tuple[OpenFile, list[Window]]]:
        """What one thread is to do next; the windows are done when it asks again."""
        while job := self.take():
            yield job
            self.finish(*job)

    def take(self) -> tuple[OpenFile, list[Window]] | None:
        """The next windows, and their file, opened."""
        with self.lock:
            found = next(self.waiting, None)
            if found is None:
                return None
            path, windows = found
            if path not in self.open:
                self.open[path] = open_file(path)
            return self.open[path], windows

    def finish(self, file: OpenFile, windows: list[Window]) -> None:
        """Counts windows as done, and closes the file after its last."""
        with self.lock:
            self.left[file.path] -= len(windows)
            if self.left[file.path] == 0:
                self.open.pop(file.path).close()
            if self.done:
                self.done(sum(window.nbytes for window in windows))

    def stop(self) -> None:
        """Hands out no more."""
        with self.lock:
            self.waiting = iter(())

    def fail(self, error: BaseException) -> None:
        """Keeps the first error, and hands out no more."""
        self.stop()
        with self.lock:
            self.errors = self.errors or [error]
