"""How many threads read, and that torch begins none of its own in them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from threading import Lock

import torch

from shardc.runtime.files import open_file
from shardc.runtime.locations import Location
from shardc.runtime.windows import Window

COPYING = 4  # threads at most, unless a caller says otherwise: more don't help where memory is the limit
WAITING = 8  # threads where the disk is the limit: it is asked for as many ranges at once
SAMPLE = 8  # windows that are looked up in the page cache beforehand

Windows = Mapping[Location, list[Window]]


def threads_for(windows: Windows) -> int:
    """As many as there are cores, 4 at most, where the page cache has a sample of the windows; more where it has not.

    Raises SHD406 for a file that cannot be opened.
    """
    every = [(path, window) for path in windows for window in windows[path]]
    for path, window in every[:: max(len(every) // SAMPLE, 1)]:
        with closing(open_file(path)) as file:
            if file.cached(window.begin, window.end) is None:
                return WAITING
    return min(COPYING, cores())


def cores() -> int:
    """Those that this process may run on, as far as the system tells."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Threads that begin inside copy alone: torch would start threads of its own in each of them."""
    with BEGINNING:
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(before)


BEGINNING = Lock()  # one load at a time: the number is the process's, until a thread has read it
