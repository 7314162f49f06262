"""Carrying out the windows of a checkpoint's files: several threads, each a few at a time, in the files' order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from threading import Barrier

import torch

from shardc.runtime.bounces import Bounces
from shardc.runtime.dealing import deal
from shardc.runtime.errors import ShardError
from shardc.runtime.files import OpenFile
from shardc.runtime.jobs import Done, Jobs
from shardc.runtime.limits import Limits
from shardc.runtime.memory import Memory
from shardc.runtime.pieces import Piece
from shardc.runtime.reader_threads import Windows, one_torch_thread, threads_for
from shardc.runtime.rings import Ring
from shardc.runtime.streams import staging_memory, stream_of
from shardc.runtime.uploads import Uploader, packed_bytes
from shardc.runtime.windows import Window

Uploaders = Mapping[torch.device, Uploader]


@contextmanager
def carrying_out(windows: Windows, limits: Limits, threads: int | None, done: Done | None) -> Iterator[None]:
    """Reads all windows and makes their copies while what is inside runs; all are done, and gone, once it is left.

    Raises the first error once all threads have stopped.
    """
    count = threads or limits.threads or threads_for(windows)
    jobs = Jobs(windows, limits, done)
    uploaders, bounces = uploaders_for(windows, count), Bounces(min(count, limits.buffers))
    begun = Barrier(count + 1)
    if done:
        done(0)
    with jobs, waited_for(uploaders), ThreadPoolExecutor(count, "load") as pool:
        try:
            with one_torch_thread():
                workers = [pool.submit(work, begun, jobs, bounces, uploaders) for _ in range(count)]
                begun.wait()
            yield
            wait(workers)
        except BaseException:
            jobs.stop()
            begun.abort()
            raise
        if jobs.errors:
            raise jobs.errors.pop()


@contextmanager
def waited_for(uploaders: Uploaders) -> Iterator[None]:
    """At the end devices have read all buffers, also after an error: what they write to can be given back then."""
    try:
        yield
    finally:
        for uploader in uploaders.values():
            uploader.ring.wait()


def uploaders_for(windows: Windows, threads: int) -> dict[torch.device, Uploader]:
    """One for each device that windows have pieces for, with a ring of twice as many buffers as there are threads."""
    memories = {piece.memory for those in windows.values() for window in those for piece in window.pieces}
    if all(memory.flat.device.type == "cpu" for memory in memories):
        return {}
    sizes: dict[torch.device, int] = {}
    for window in (window for those in windows.values() for window in those):
        for device, pieces in by_device(window.pieces).items():
            if device.type != "cpu":
                sizes[device] = max(sizes.get(device, 0), sum(map(packed_bytes, pieces)))
    return {
        device: Uploader(
            Ring(staging_memory(size, pinned=device.type == "cuda") for _ in range(2 * threads)), stream_of(device)
        )
        for device, size in sizes.items()
    }


def work(begun: Barrier, jobs: Jobs, bounces: Bounces, uploaders: Uploaders) -> None:
    """What one thread does. The others are told to stop where it fails."""
    torch.get_num_threads()  # from here on this thread's number, whatever the others' is
    begun.wait()
    try:
        for file, windows in jobs:
            read_windows(file, windows, bounces, uploaders)
    except BaseException as error:
        jobs.fail(error)


def read_windows(file: OpenFile, windows: Sequence[Window], bounces: Bounces, uploaders: Uploaders) -> None:
    """Reads windows and makes their copies, those out of the page cache together, as many at once as are alike.

    Raises SHD406 where the file has less, or can't be read.
    """
    cached: list[Window] = []
    pages: Memory | None = None
    for window in windows:
        if window.direct:
            read_direct(file, window, uploaders)
        elif found := file.cached(window.begin, window.end):
            pages = found
            cached.append(window)
        else:
            read_window(file, window, bounces, uploaders)
    if pages:
        deal_cached(pages, cached, uploaders)
        file.drop(cached[0].begin, cached[-1].end)


def deal_cached(pages: Memory, windows: Sequence[Window], uploaders: Uploaders) -> None:
    """Makes the copies of windows out of a file's pages: all at once; for devices, whose buffers hold one, in turn."""
    if uploaders:
        for window in windows:
            deal_pieces(pages, 0, window, uploaders)
    else:
        deal(pages, 0, [piece for window in windows for piece in window.pieces])


def read_window(file: OpenFile, window: Window, bounces: Bounces, uploaders: Uploaders) -> None:
    """Reads one window into a buffer and makes its copies."""
    begin, end = window.begin, window.end
    with bounces.room(begin, end) as (memory, origin):
        read_into([memory.bytes[begin - origin : end - origin]], file, window)
        deal_pieces(memory, origin, window, uploaders)


def deal_pieces(source: Memory, origin: int, window: Window, uploaders: Uploaders) -> None:
    """Makes the copies of a window on the host, or to their devices."""
    if not uploaders:
        deal(source, origin, window.pieces)
        return
    for device, own in by_device(window.pieces).items():
        uploader = uploaders.get(device)
        (uploader.deal if uploader else deal)(source, origin, own)


def read_direct(file: OpenFile, window: Window, uploaders: Uploaders) -> None:
    """Reads contiguous pieces right to where they stay, or each into a buffer that its device reads."""
    if not uploaders:
        read_into([piece.bytes for piece in window.pieces], file, window)
        return
    for piece in window.pieces:
        own = Window(piece.begin, piece.end, (piece,), direct=True)
        uploader = uploaders.get(piece.memory.flat.device)
        if uploader:
            uploader.read(piece, partial(read_into, file=file, window=own))
        else:
            read_into([piece.bytes], file, own)


def by_device(pieces: Iterable[Piece]) -> dict[torch.device, list[Piece]]:
    """The pieces that go to each device."""
    found: dict[torch.device, list[Piece]] = defaultdict(list)
    for piece in pieces:
        found[piece.memory.flat.device].append(piece)
    return found


def read_into(memories: Iterable[memoryview], file: OpenFile, window: Window) -> None:
    """Reads a window's bytes into host memories of just that size together.

    Raises SHD406, naming the first tensor that is cut.
    """
    try:
        end = window.begin + file.read(memories, window.begin)
    except OSError as error:
        raise lacking(file, window, window.begin, f"of which some can't be read: {error.strerror}") from error
    if end < window.end:
        raise lacking(file, window, end, f"but the file has {end}")


def lacking(file: OpenFile, window: Window, end: int, why: str) -> ShardError:
    """SHD406 for the first tensor of a window that goes on beyond a byte."""
    piece = next(piece for piece in window.pieces if piece.end > end)
    return ShardError(("SHD406", f"{file.path.name}: {piece.name} takes bytes {piece.begin}..{piece.end}, {why}"))
