"""What no loader can be faster than: copying the local bytes in memory, and reading their file ranges."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from bench.loading.methods import Job, Method, Tensors, places

HUGE = 2 << 20  # bytes of a huge page
ASKING = 8  # threads that ask the disk, as many as our loader's
BLOCK = 8 << 20  # bytes that are asked for at once
_kept: list[Any] = []  # the source of the copy, and where it went


def default_threads() -> int:
    """As many as our loader uses."""
    return min(4, os.cpu_count() or 1)


def huge_memory(count: int) -> Any:
    """`count` fresh bytes for which huge pages are asked, as a NumPy array."""
    import numpy

    mapping = mmap.mmap(-1, count, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    mapping.madvise(mmap.MADV_HUGEPAGE)
    return numpy.frombuffer(mapping, numpy.uint8)


def prepare_copy(job: Job, ranks: list[int]) -> None:
    """The source: as many bytes as the ranks keep, touched."""
    source = huge_memory(len(ranks) * job.workload.local_bytes(job.tp))
    source[:] = 1
    _kept.append(source)


def copy(job: Job, ranks: list[int]) -> list[Tensors]:
    """Copies the source into fresh memory, each thread an equal share of it."""
    import numpy

    source, threads = _kept[0], job.threads or default_threads()
    target = huge_memory(len(source))
    _kept.append(target)
    step = -(-len(source) // threads // HUGE) * HUGE
    shares = [slice(begin, begin + step) for begin in range(0, len(source), step)]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda share: numpy.copyto(target[share], source[share]), shares))
    return []


def read(job: Job, ranks: list[int]) -> list[Tensors]:
    """Reads what the ranks need, by as many threads as our loader asks the disk with, and keeps nothing of it."""
    buffers: SimpleQueue[memoryview] = SimpleQueue()
    for _ in range(ASKING):
        buffers.put(memoryview(bytearray(BLOCK)))

    def read_block(path: Path, begin: int, end: int) -> None:
        buffer = buffers.get()
        with path.open("rb", buffering=0) as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)  # no read-ahead: it is another rank's
            file.seek(begin)
            while begin < end:
                begin += file.readinto(buffer[: end - begin])
        buffers.put(buffer)

    with ThreadPoolExecutor(ASKING) as pool:
        list(pool.map(lambda block: read_block(*block), blocks(job, ranks)))
    return []


def blocks(job: Job, ranks: list[int]) -> Iterator[tuple[Path, int, int]]:
    """What is read, at most 8 MiB at once: rows of the ranks, and all of a tensor that is cut by columns."""
    runs: list[tuple[Path, int, int]] = []
    for place in places(job):
        part = job.part(place.name, ranks[0])
        begin, end = place.begin, place.end
        if part and part[0] == 0:
            share = (end - begin) // job.tp
            begin, end = begin + ranks[0] * share, begin + (ranks[-1] + 1) * share
        if runs and (runs[-1][0], runs[-1][2]) == (place.path, begin):
            begin = runs.pop()[1]
        runs.append((place.path, begin, end))
    for path, begin, end in runs:
        for first in range(begin, end, BLOCK):
            yield path, first, min(first + BLOCK, end)


def nothing(job: Job, ranks: list[int]) -> None:
    """No imports."""


METHODS = (
    Method("limit: memcpy", prepare_copy, load_all=copy, compared=False),
    Method("limit: read", nothing, load_all=read, compared=False),
)
