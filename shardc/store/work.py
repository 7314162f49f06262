"""Units of work in several processes, each of which plans once; and which of them are this process's."""

from __future__ import annotations

import errno
import multiprocessing
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ProcessPoolExecutor, wait
from functools import cache
from queue import Empty
from typing import Any, Protocol, TypeVar

import torch

from shardc.runtime.errors import Finding, ShardError
from shardc.store.writer import Progress

T = TypeVar("T", covariant=True)

#: Bytes that a process writes between two words to its parent.
_TOLD = 16 << 20
#: Seconds between two looks at what processes said.
_PATIENCE = 0.1


class Worker(Protocol[T]):
    """What does a unit of work and says how many bytes were done."""

    def write(self, unit: str, progress: Progress) -> T:
        """Raises ShardError."""
        ...


def share(ranks: Sequence[int], environment: Mapping[str, str]) -> tuple[list[int], bool]:
    """Those of the ranks that are this process's, one of several that torchrun or SLURM started; and if it is one.

    The first process takes the first, the second the second, and so on. Raises ValueError where it can't be told.
    """
    for number, count in (("RANK", "WORLD_SIZE"), ("SLURM_PROCID", "SLURM_NTASKS")):
        if number in environment and count in environment:
            at, of = environment[number], environment[count]
            if not (at.isdecimal() and of.isdecimal() and int(at) < int(of)):
                raise ValueError(f"{number}={at} and {count}={of} are no process and its number of processes")
            return list(ranks[int(at) :: int(of)]), int(of) > 1
    return list(ranks), False


def default_jobs(units: int) -> int:
    """As many processes as there are units, and cores that this process may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(min(units, cores), 1)


def work(make: Callable[[], Worker[T]], units: Sequence[str], jobs: int, progress: Progress) -> list[T]:
    """What came of each unit, in their order; in this process alone for one job.

    Other units are finished where one fails. Raises ShardError with the findings of all, and OSError.
    """
    done: list[T] = []
    findings: list[Finding] = []
    outcomes = in_turn(make(), units, progress) if jobs == 1 else in_processes(make, units, jobs, progress)
    for outcome in outcomes:
        try:
            done.append(outcome())
        except ShardError as error:
            findings += error.findings
        except BrokenExecutor as error:
            raise OSError(errno.ECHILD, "a process that wrote files was stopped; what is complete is kept") from error
    if findings:
        raise ShardError(*dict.fromkeys(findings))
    return done


def in_turn(worker: Worker[T], units: Sequence[str], progress: Progress) -> Iterator[Callable[[], T]]:
    """One unit after the other."""
    for unit in units:
        yield lambda unit=unit: worker.write(unit, progress)  # type: ignore[misc]


def in_processes(
    make: Callable[[], Worker[T]], units: Sequence[str], jobs: int, progress: Progress
) -> Iterator[Callable[[], T]]:
    """`jobs` units at a time."""
    said = _context().Queue()
    threads = max(default_jobs(1 << 16) // jobs, 1)
    with ProcessPoolExecutor(jobs, _context(), _begin, (make, said, threads)) as pool:
        futures: list[Future[Any]] = [pool.submit(_write, unit) for unit in units]
        left = set(futures)
        try:
            while left:
                left = wait(left, timeout=_PATIENCE, return_when=FIRST_COMPLETED).not_done
                _listen(said, progress)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
        for future in futures:
            yield future.result
    _listen(said, progress)


def _listen(said: Any, progress: Progress) -> None:
    while True:
        try:
            progress(said.get_nowait())
        except Empty:
            return


@cache
def _context() -> Any:
    """Processes forked off one that has imported torch and has run nothing."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["shardc.store.cutter", "shardc.store.merger"])
    return context


class _Process:
    """This process's worker, and the queue of its parent."""

    worker: Worker[Any] | None = None
    said: Any = None


def _begin(make: Callable[[], Worker[Any]], said: Any, threads: int) -> None:
    torch.set_num_threads(threads)
    _Process.worker, _Process.said = make(), said


def _write(unit: str) -> Any:
    assert _Process.worker is not None
    waiting = 0

    def progress(count: int) -> None:
        nonlocal waiting
        waiting += count
        if waiting >= _TOLD:
            _Process.said.put(waiting)
            waiting = 0

    try:
        return _Process.worker.write(unit, progress)
    finally:
        _Process.said.put(waiting)
