"""The section of RESULTS.md: what was measured how, on which machine, what must be reached, and the tables."""

from __future__ import annotations

import os
import platform
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.loading.bars import bars
from bench.loading.cache import GIB
from bench.loading.catalogue import WORKLOADS
from bench.loading.cells import Cell
from bench.loading.limits import ASKING, default_threads
from bench.loading.results import Table
from bench.loading.table import sections
from bench.loading.workloads import Workload

HEAD_OF_BARS = ("| must reach, at tp=4 | bar | measured | reached |", "|---|--:|--:|---|")
HOW = """\
`python -m bench.loading` makes the checkpoints and an environment with every library, and measures each load in a
process of its own that imports everything first. Methods are measured in turn, round after round; every result is
compared with plain reads of the files before. {machine}.
{noise}.

- **GB/s**: local bytes of the ranks that are loaded. **of limit**: the limit's seconds over the method's. Warm, the
  limit copies as many bytes into fresh huge-page memory with {threads} threads; cold, it reads the ranges of the rank
  and keeps nothing of them, whole tensors where they are cut by columns, with {asking} threads.
- **× ours**: seconds over those of our first row, the median of pairs of one round. Of a shared machine, read these.
- **peak**: the most resident memory beyond what there was before, over the local bytes of the process. **disk**: bytes
  read from the disk over the local bytes of all ranks.
- **in turn**: ranks one after another in one process, all kept; **at once**: a process a rank, from the first start to
  the last end. A dash: no figures, for the reason below the table."""


def report(results: dict[Cell, Table], gpu: str) -> str:
    """The section of RESULTS.md. gpu: what the script for a CUDA device printed."""
    return "\n\n".join(parts(results, gpu))


def parts(results: dict[Cell, Table], gpu: str) -> Iterator[str]:
    """Its parts: what was measured how, what must be reached, and the tables."""
    yield "## Loading"
    yield HOW.format(machine=machine(), threads=default_threads(), asking=ASKING, noise=noise(results))
    yield "\n".join(f"- **{one.name}**: {sizes(one)}" for one in WORKLOADS.values())
    yield "\n".join([*HEAD_OF_BARS, *(bar.line for bar in bars(results))])
    yield from sections(results)
    yield f"**on a GPU** (`python -m bench.loading.gpu`)\n\n```text\n{gpu.strip()}\n```"


def noise(results: dict[Cell, Table]) -> str:
    """How many rounds there are, and how busy the machine was: a measurement alone is a load of about 1."""
    rows = [row for table in results.values() for row in table.values() if row.rounds]
    if not rows:
        return "Nothing measured"
    counts = {len(row.rounds) for row in rows}
    loads = [entry["load"] for row in rows for entry in row.rounds.values()]
    rounds = " to ".join(map(str, sorted({min(counts), max(counts)})))
    return f"Rounds: {rounds}, medians. Load of the machine: {statistics.median(loads):.1f}, at most {max(loads):.1f}"


def sizes(workload: Workload) -> str:
    """How large a workload is."""
    count, gib = len(workload.tensors), workload.bytes / GIB
    return f"{workload.about}: {count:,} tensors, {gib:.2f} GiB in {workload.files} files, through `{workload.module}`."


def machine() -> str:
    """The machine that measures."""
    memory = next(line for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemTotal"))
    cores, gib = len(os.sched_getaffinity(0)), int(memory.split()[1]) / (1 << 20)
    python = ".".join(map(str, sys.version_info[:2]))
    return f"{platform.machine()}, {cores} cores, {gib:.0f} GiB, Linux {platform.release()}, CPython {python}"
