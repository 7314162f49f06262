"""One measurement, in a process of its own: imports, then READY, then the load when the parent says go.

The parent writes a task as one line of JSON to stdin, then `go`, then `check` or `done`. Lines of this process begin
with a mark, since libraries print what they like.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
import time
from pathlib import Path
from typing import Any

from bench.loading.catalogue import TINY_WORKLOAD, WORKLOADS
from bench.loading.methods import Job, Method, Tensors
from bench.loading.reference import differences
from bench.loading.registry import METHODS

MARK = "@bench "


def main() -> int:
    """Returns the exit code: 1 where something can't be loaded; the reason is the last line."""
    task = json.loads(sys.stdin.readline())
    try:
        run(task)
    except Exception as error:  # a peer may raise anything, and its row says what
        text = str(error).strip().splitlines() or [""]
        say("reason", f"{type(error).__name__}: {text[0]}")
        return 1
    return 0


def run(task: dict[str, Any]) -> None:
    """Makes the method's own file, or measures one load."""
    method, job, ranks = METHODS[task["method"]], job_of(task), task["ranks"]
    if task["make"]:
        make(method, job)
        return
    method.prepare(job, ranks)
    say("ready", None)
    if not sys.stdin.readline():  # the parent is gone
        return
    before, started = counters(reset=True), time.monotonic()
    loaded = load(method, job, ranks)
    ended, after = time.monotonic(), counters()
    say("result", figures(before, after) | {"started": started, "ended": ended})
    if sys.stdin.readline().strip() == "check":
        pairs = dict(zip(ranks, loaded, strict=True))
        say("faults", differences(job, pairs, whole_allowed=method.name == "transformers tp_plan"))


def job_of(task: dict[str, Any]) -> Job:
    """The job of a task."""
    workload = (WORKLOADS | {"tiny": TINY_WORKLOAD})[task["workload"]]
    made = Path(task["made"]) if task["made"] else None
    return Job(workload, Path(task["folder"]), task["tp"], task["threads"], made)


def make(method: Method, job: Job) -> None:
    """The method's own file, under another name until it is done."""
    assert method.make and job.made
    partial = job.made.with_name(f"{job.made.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    method.make(job, partial)
    partial.rename(job.made)
    say("made", None)


def load(method: Method, job: Job, ranks: list[int]) -> list[Tensors]:
    """The tensors of every rank: all at once, or one after another, and all are kept."""
    if method.load_all:
        return method.load_all(job, ranks)
    assert method.load
    return [method.load(job, rank) for rank in ranks]


def counters(*, reset: bool = False) -> dict[str, float]:
    """What the kernel counts of this process. reset: the peak of memory begins anew."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    io = dict(line.split(":", 1) for line in Path("/proc/self/io").read_text().splitlines())
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "resident": int(status["VmRSS"].split()[0]) * 1024,
        "peak": int(status["VmHWM"].split()[0]) * 1024,
        "disk": int(io["read_bytes"]),
        "user": usage.ru_utime,
        "system": usage.ru_stime,
    }


def figures(before: dict[str, float], after: dict[str, float]) -> dict[str, float]:
    """Of the load alone: peak bytes over what was resident before, bytes from the disk, seconds of the processors."""
    return {
        "peak": after["peak"] - before["resident"],
        **{name: after[name] - before[name] for name in ("disk", "user", "system")},
    }


def say(kind: str, value: object) -> None:
    """One line to the parent."""
    print(MARK + json.dumps([kind, value]), flush=True)


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # threads and atexit hooks of libraries have nothing to say any more
