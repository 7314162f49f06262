"""What a generated module does before it reads a weight: headers of 160 files, and the plan of one rank.

    python bench/plans.py [ROUNDS]

The files are DeepSeek-R1's in NVFP4, and the same with as many experts as Kimi-K2.5: headers, and holes for the data.
Each step runs ROUNDS times in one process; what it made is dropped before the next.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from big_checkpoints import FILES, R1_NVFP4, kimi_sized, write_sparse

from generated import _runtime as rt
from generated import deepseek_v3
from shardc.checkpoint import read_checkpoint

RANK = {"tp": (1, 8)}


def measure(name: str, rounds: int, step: Callable[[], Any]) -> Any:
    """Prints how long a step takes, and its CPU time, which moves less; the result of its last round."""
    seconds, cpu_seconds = [], []
    result = None
    for _ in range(rounds):
        result = None
        started, spent = time.perf_counter(), time.process_time()
        result = step()
        seconds.append(time.perf_counter() - started)
        cpu_seconds.append(time.process_time() - spent)
    best = f"best {min(seconds):6.3f} s   least CPU {min(cpu_seconds):6.3f} s"
    print(f"  {name:46}  median {statistics.median(seconds):6.3f} s   {best}")
    return result


def steps(directory: Path, rounds: int) -> None:
    """Everything up to the shards of a rank, as `load` does it."""
    describe, formats = deepseek_v3.tensors, deepseek_v3.FORMATS
    config, mesh = rt.read_config(directory), rt.mesh(deepseek_v3.MESH, extra=RANK)
    measure("shardc: read_checkpoint", rounds, lambda: read_checkpoint(directory))
    headers = measure("read_headers", rounds, lambda: rt.read_headers(directory))
    print(f"  {len(headers):,} tensors in {FILES} files")
    measure("plan", rounds, lambda: deepseek_v3.plan(config, RANK, headers))
    survey = measure("  take_survey", rounds, lambda: rt.take_survey(describe, formats, config, mesh, headers))
    tensors, _ = measure("  rank_tensors", rounds, lambda: rt.rank_tensors(describe, config, mesh, survey))
    measure("  cut", rounds, lambda: rt.cut(tensors, survey.choices))
    measure("check_coverage, which a load does besides", rounds, lambda: coverage(survey, headers))
    parts = [name.rpartition(".") for name in headers]
    measure("bound: names spelled, looked up, in a pair", rounds, lambda: pairs(parts, headers))


def coverage(survey: rt.Survey, headers: rt.Headers) -> None:
    """The two-sided check."""
    rt.check_coverage(survey, headers, deepseek_v3.IGNORED)


def pairs(parts: list[tuple[str, str, str]], headers: rt.Headers) -> list[tuple[str, rt.Header]]:
    """What no plan can do without, in the least Python: it spells each name, looks it up, and puts both in a pair."""
    return [(name, headers[name]) for name in [f"{stem}.{word}" for stem, _, word in parts]]


def main(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for table in (R1_NVFP4, kimi_sized(folder)):
            print(table.stem)
            write_sparse(table, folder / table.stem)
            steps(folder / table.stem, rounds)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
