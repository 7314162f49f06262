"""The one command: makes what is missing, measures in turn, prints the tables and writes them into RESULTS.md."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bench.loading import cache
from bench.loading.catalogue import WORKLOADS
from bench.loading.cells import Cell, Way, cells, ways
from bench.loading.child import ROOT, Failed
from bench.loading.environment import interpreter
from bench.loading.processes import Bench, ranks_of
from bench.loading.report import report
from bench.loading.results import read_results, rounds_of
from bench.loading.table import write_section
from bench.loading.workloads import Workload
from bench.loading.writing import checkpoint_of

RESULTS = ROOT / "bench" / "RESULTS.md"
GPU = "gpu.txt"  # in the scratch folder
COMPARING = -1  # the round that compares tensors and has no figures


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code."""
    options = parser().parse_args(arguments)
    scratch: Path = options.scratch
    scratch.mkdir(parents=True, exist_ok=True)
    log = scratch / "results.jsonl"
    if not (options.keep or options.table):
        log.unlink(missing_ok=True)
    if not options.table:
        bench = Bench(options.python or interpreter(scratch), scratch, options.threads)
        if os.getloadavg()[0] > 1:
            print("the machine is busy: on cores that are shared, libraries that wait for their threads look slow")
        first = rounds_of(log)
        rounds = [*([] if options.unchecked else [COMPARING]), *range(first, first + options.rounds)]
        for cell in cells(options.only, options.workloads.split(",")):
            measure_cell(bench, cell, options.methods, rounds, log)
        (scratch / GPU).write_text(on_gpu(bench))
    text = report(read_results(log), (scratch / GPU).read_text())
    print(text)
    if not options.dry:
        write_section(options.results, text)
    return 0


def parser() -> argparse.ArgumentParser:
    """The options."""
    one = argparse.ArgumentParser(prog="python -m bench.loading", description=__doc__)
    one.add_argument("--rounds", type=int, default=5, help="how often each method is measured; medians are shown (5)")
    one.add_argument("--quick", dest="rounds", action="store_const", const=1, help="the same as --rounds 1")
    one.add_argument("--workloads", default=",".join(WORKLOADS), help="names, separated by commas (%(default)s)")
    one.add_argument("--methods", default="*", help="patterns of peers, separated by commas (all)")
    one.add_argument("--only", default="*", help="pattern of cells, such as 'llama/tp4/warm/rank' or '*/tp4/*'")
    one.add_argument("--threads", type=int, help="of our loader and of the limits (our loader's own choice)")
    one.add_argument("--scratch", type=Path, default=Path(tempfile.gettempdir()) / "shardc-bench", help="(%(default)s)")
    one.add_argument("--python", type=Path, help="an interpreter that has the peers (scratch/venv, made once)")
    one.add_argument("--keep", action="store_true", help="add to the measurements of earlier runs")
    one.add_argument("--unchecked", action="store_true", help="do not compare tensors with the files before")
    one.add_argument("--table", action="store_true", help="measure nothing: the tables of earlier runs")
    one.add_argument("--results", type=Path, default=RESULTS, help="the file that has the section (%(default)s)")
    one.add_argument("--dry", action="store_true", help="print the tables only")
    return one


def on_gpu(bench: Bench) -> str:
    """What the script for a CUDA device prints."""
    command = [str(bench.python), "-m", "bench.loading.gpu", "--scratch", str(bench.scratch)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return run.stdout if run.returncode == 0 else f"{run.stdout}{run.stderr.strip().splitlines()[-1]}\n"


def measure_cell(bench: Bench, cell: Cell, methods: str, rounds: Iterable[int], log: Path) -> None:
    """Every way of a cell in turn, round after round; each is compared with the reference once, before its figures."""
    workload = WORKLOADS[cell.workload]
    left = list(ways(cell, methods))
    fresh_cache(bench, workload)
    for number in rounds:
        for way in tuple(left):
            if number == COMPARING and (workload.name, cell.tp, way) in bench.compared:
                continue
            entry = measure_way(bench, workload, cell, way, number)
            if "reason" in entry:
                left.remove(way)
            print(line_of(cell, way, entry), flush=True)
            if "reason" in entry or number != COMPARING:
                with log.open("a") as file:
                    file.write(json.dumps(entry) + "\n")


def measure_way(bench: Bench, workload: Workload, cell: Cell, way: Way, number: int) -> dict[str, Any]:
    """One measurement, or the reason why it has no figures."""
    entry: dict[str, Any] = {"cell": cell, "way": way, "round": number}
    try:
        figures = bench.measure(workload, cell, way, check=number == COMPARING)
    except Failed as failed:
        return entry | {"reason": str(failed)}
    return entry | {"ranks": len(ranks_of(cell))} | figures


def fresh_cache(bench: Bench, workload: Workload) -> None:
    """Reads the checkpoint from the disk anew: how large the pages of the page cache are depends on how it was read."""
    files = cache.files_under([checkpoint_of(workload, bench.scratch)])
    cache.drop(files)
    cache.warm(files)


def line_of(cell: Cell, way: Way, entry: dict[str, Any]) -> str:
    """What is printed of a measurement while the run goes on."""
    title = f"{time.strftime('%H:%M:%S')} {cell.name:24} {entry['round']:2} {way.label:28}"
    if "reason" in entry:
        return f"{title} {entry['reason']}"
    whole = entry["local"] * entry["ranks"]
    peak = entry["peak"] * entry["processes"] / whole
    return (
        f"{title} {entry['seconds']:6.2f} s {whole / entry['seconds'] / 1e9:6.2f} GB/s  peak {peak:.2f}  "
        f"disk {entry['disk'] / whole:.2f}  resident {entry['resident']:.2f}"
    )
