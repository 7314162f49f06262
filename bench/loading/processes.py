"""The parent's side of a measurement: fresh processes, the state of the machine, go, and what they say."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.loading import cache
from bench.loading.cells import RANK, Cell, Way
from bench.loading.child import Child, Failed
from bench.loading.methods import Method
from bench.loading.registry import METHODS
from bench.loading.workloads import Workload
from bench.loading.writing import checkpoint_of


class Bench:
    """Runs measurements with one interpreter, in one scratch folder. limit: seconds after which one is given up."""

    def __init__(self, python: Path, scratch: Path, threads: int | None = None, limit: float = 300) -> None:
        self.python, self.scratch, self.threads, self.limit = python, scratch, threads, limit
        self.compared: set[tuple[str, int, Way]] = set()  # workload, tp

    def measure(self, workload: Workload, cell: Cell, way: Way, *, check: bool) -> dict[str, Any]:
        """The figures of one load. check: every tensor is compared afterwards. Raises Failed."""
        method = METHODS[way.method]
        if workload.name in method.refuses:
            raise Failed(method.refuses[workload.name])
        folder = checkpoint_of(workload, self.scratch)
        made = self._made(workload, folder, method)
        groups = [[rank] for rank in range(cell.tp)] if way.how == "once" else [ranks_of(cell)]
        tasks = [self._task(workload, folder, made, cell.tp, way.method, ranks) for ranks in groups]
        children = self._start(tasks, method)
        timer = threading.Timer(self.limit, give_up, [children, f"took longer than {self.limit:.0f} s"])
        timer.start()
        try:
            for child in children:
                child.hear("ready")
            state = self._set_machine(workload, folder, made, cell)
            for child in children:
                child.tell("go")
            figures = [child.hear("result") for child in children]
            faults = self._finish(children, check=check and method.compared)
        finally:
            timer.cancel()
            for child in children:
                child.end()
        if faults:
            raise Failed(f"{len(faults)} tensors differ: {faults[0]}")
        if check:
            self.compared.add((workload.name, cell.tp, way))
        if made:
            cache.drop(cache.files_under([made]))
        return summary(figures, workload.local_bytes(cell.tp)) | {"file": workload.bytes} | state

    def _finish(self, children: Sequence[Child], *, check: bool) -> list[str]:
        """Lets the processes go, with or without a comparison; returns its faults."""
        for child in children:
            child.tell("check" if check else "done")
        return [fault for child in children for fault in child.hear("faults")] if check else []

    def _task(
        self, workload: Workload, folder: Path, made: Path | None, tp: int, method: str, ranks: list[int]
    ) -> dict[str, Any]:
        return {
            "workload": workload.name,
            "folder": str(folder),
            "made": str(made) if made else None,
            "make": False,
            "method": method,
            "tp": tp,
            "ranks": ranks,
            "threads": self.threads,
        }

    def _start(self, tasks: Sequence[Mapping[str, Any]], method: Method) -> list[Child]:
        """A process for each task, with the environment that torchrun gives to several."""
        shared: dict[str, str] = dict(method.environment)
        if len(tasks) > 1:
            size = str(len(tasks))
            shared |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "OMP_NUM_THREADS": "1"}
            shared |= {"WORLD_SIZE": size, "LOCAL_WORLD_SIZE": size}
        own = [{"RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(len(tasks))]
        return [Child(self.python, task, shared | rank) for task, rank in zip(tasks, own, strict=True)]

    def _made(self, workload: Workload, folder: Path, method: Method) -> Path | None:
        """The method's own file, written where it is not there yet."""
        if not method.make:
            return None
        made = self.scratch / f"{workload.folder}{method.suffix}"
        if not made.exists():
            child = Child(
                self.python,
                self._task(workload, folder, made, 1, method.name, [0]) | {"make": True},
                method.environment,
            )
            try:
                child.hear("made")
            finally:
                child.end()
        return made

    def _set_machine(self, workload: Workload, folder: Path, made: Path | None, cell: Cell) -> dict[str, Any]:
        """Sets the page cache of what is read, makes memory ready, and tells what part of the files is resident.

        load: how many processes wanted a core in the last minute.
        """
        files = cache.files_under([made or folder])
        wanted = 2 * len(ranks_of(cell)) * workload.local_bytes(cell.tp)
        if cell.cache == "warm":
            cache.warm(files)
            cache.touch_and_free(wanted)
        else:
            cache.drop(files)
            cache.touch_and_free(wanted + workload.bytes)
        return {"resident": cache.resident(files), "load": os.getloadavg()[0]}


def give_up(children: Sequence[Child], reason: str) -> None:
    """Ends all processes of a measurement."""
    for child in children:
        child.give_up(reason)


def ranks_of(cell: Cell) -> list[int]:
    """The ranks that are loaded."""
    return list(range(cell.tp)) if cell.scope == "node" else [RANK]


def summary(figures: list[dict[str, float]], local: int) -> dict[str, Any]:
    """Of the processes of one load: seconds from the first start to the last end, bytes of all, the largest peak."""
    return {
        "seconds": max(one["ended"] for one in figures) - min(one["started"] for one in figures),
        "peak": max(one["peak"] for one in figures),
        "disk": sum(one["disk"] for one in figures),
        "processor": sum(one["user"] + one["system"] for one in figures),
        "local": local,
        "processes": len(figures),
    }


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
