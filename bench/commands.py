"""How long the commands take: medians of whole processes, interleaved, beside an empty Python and an import of torch.

    python bench/commands.py [ROUNDS]

Read ratios: a shared machine moves all rows of one run together. CPU seconds, of all threads, move least. Each command
runs once beforehand and leaves the bytecode of its modules, as an installation has it, whatever the environment says.
"""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from big_checkpoints import R1_NVFP4, kimi_sized, write_sparse

ROOT = Path(__file__).parent.parent
SHARDC = [sys.executable, "-m", "shardc"]


def first(spec: str) -> str:
    """The commit that brought a spec."""
    log = ["git", "log", "--format=%h", "--diff-filter=A", "--", f"specs/{spec}.yaml"]
    return subprocess.run(log, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()[-1]


OLD_LLAMA, OLD_GLM = first("llama"), first("glm5_next")
NVFP4 = "specs/checkpoints/glm-5.3-flash-nvfp4.json"
R1 = str(R1_NVFP4.relative_to(ROOT))
SCRATCH = Path(tempfile.mkdtemp())
KIMI = str(kimi_sized(SCRATCH))
ENVIRONMENT = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(SCRATCH / "bytecode")}
PLAN_R1 = [*SHARDC, "plan", "specs/deepseek_v3.yaml", "--tp", "8"]
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import torch": [sys.executable, "-c", "import torch"],
    "import shardc.cli.check": [sys.executable, "-c", "import shardc.cli.check"],
    "--help": [*SHARDC, "--help"],
    "check llama (7 targets, 291 tensors)": [*SHARDC, "check", "specs/llama.yaml"],
    "check glm5_next (2 targets, 189,182 tensors)": [*SHARDC, "check", "specs/glm5_next.yaml"],
    "check all of specs/": [*SHARDC, "check"],
    "build --check": [*SHARDC, "build", "--check"],
    "verify glm-5.3-flash-nvfp4 (113,074 tensors)": [*SHARDC, "verify", NVFP4],
    "verify deepseek-r1-nvfp4 (180,364 tensors)": [*SHARDC, "verify", R1],
    "verify the same with 384 experts (269,836 tensors)": [*SHARDC, "verify", KIMI],
    "verify deepseek-r1-nvfp4, 160 files": [*SHARDC, "verify", str(SCRATCH / "r1")],
    "verify the same with 384 experts, 160 files": [*SHARDC, "verify", str(SCRATCH / "kimi")],
    "verify specs/checkpoints": [*SHARDC, "verify", "specs/checkpoints"],
    "plan glm5_next --config, tp=8": [*SHARDC, "plan", "specs/glm5_next.yaml", "--config", NVFP4, "--tp", "8"],
    "plan glm5_next --checkpoint, tp=8": [*SHARDC, "plan", "specs/glm5_next.yaml", "--checkpoint", NVFP4, "--tp", "8"],
    "plan deepseek-r1-nvfp4 --config, tp=8": [*PLAN_R1, "--config", R1],
    "plan deepseek-r1-nvfp4 --checkpoint, tp=8": [*PLAN_R1, "--checkpoint", R1],
    "plan the same with 384 experts --checkpoint, tp=8": [*PLAN_R1, "--checkpoint", KIMI],
    "diff of llama, its first version against now": [*SHARDC, "diff", "--against", OLD_LLAMA, "specs/llama.yaml"],
    "diff of glm5_next, its first version against now": [*SHARDC, "diff", "--against", OLD_GLM, "specs/glm5_next.yaml"],
    "diff of nothing": [*SHARDC, "diff", "--against", "HEAD"],
    "report of glm5_next": [*SHARDC, "report", "specs/glm5_next.yaml", "-o", f"{tempfile.gettempdir()}/report.html"],
}


def main(rounds: int) -> None:
    write_sparse(R1_NVFP4, SCRATCH / "r1")
    write_sparse(Path(KIMI), SCRATCH / "kimi")
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    cpu_seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for command in COMMANDS.values():
        run(command)
    for _ in range(rounds):
        for name, command in COMMANDS.items():
            started, spent = time.perf_counter(), cpu_of_children()
            run(command)
            seconds[name].append(time.perf_counter() - started)
            cpu_seconds[name].append(cpu_of_children() - spent)
    width = max(map(len, COMMANDS))
    for name, times in seconds.items():
        best = f"best {min(times):6.3f} s   least CPU {min(cpu_seconds[name]):6.3f} s"
        print(f"{name:{width}}  median {statistics.median(times):6.3f} s   {best}")


def run(command: list[str]) -> None:
    """Runs a command; what it prints is not shown."""
    quiet = subprocess.DEVNULL
    subprocess.run(command, cwd=ROOT, check=True, env=ENVIRONMENT, stdout=quiet, stderr=quiet)


def cpu_of_children() -> float:
    """User and system seconds of all processes that have been run."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
    finally:
        shutil.rmtree(SCRATCH)
