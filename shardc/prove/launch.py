"""Starting the ranks, and waiting for them."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from functools import cache
from multiprocessing.connection import wait
from typing import Any

import torch

from shardc.prove.rank import run
from shardc.prove.task import Outcome, Task

#: Seconds that the other ranks have, after one has failed.
GRACE = 2.0


@cache
def _context() -> Any:
    """Processes forked off one that has imported torch and transformers, and has run nothing."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["shardc.prove.preload"])
    return context


def run_ranks(task: Task, progress: Callable[[str], None]) -> list[Outcome]:
    """What each rank came to, in their order. Once one has failed, those that wait for it are stopped."""
    processes = {
        rank: _context().Process(target=run, args=(task, rank), daemon=True) for rank in range(len(task.ranks))
    }
    for process in processes.values():
        process.start()
    left = dict(processes)
    outcomes: dict[int, Outcome] = {}
    deadline = float("inf")
    while left and time.monotonic() < deadline:
        wait([process.sentinel for process in left.values()], timeout=min(deadline - time.monotonic(), 1.0))
        for rank in [rank for rank, process in left.items() if not process.is_alive()]:
            left.pop(rank).join()
            outcomes[rank] = _outcome(task, rank, processes[rank].exitcode)
            progress(f"rank {rank} of {len(processes)}: {outcomes[rank].error or 'done'}")
            if outcomes[rank].error:
                deadline = min(deadline, time.monotonic() + GRACE)
    for rank, process in left.items():
        process.kill()
        process.join()
        outcomes[rank] = Outcome(rank, error="stopped: another rank failed", waited=True)
    return [outcomes[rank] for rank in sorted(outcomes)]


def _outcome(task: Task, rank: int, code: int | None) -> Outcome:
    file = task.outcome_file(rank)
    if not file.exists():
        return Outcome(rank, error=f"the process ended with exit code {code}")
    found = torch.load(file, weights_only=False)
    assert isinstance(found, Outcome)
    return found
