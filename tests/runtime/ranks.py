"""Real ranks: processes of one gloo group, forked off one that has imported torch and has run nothing."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import traceback
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.support import ROOT

PATIENCE = timedelta(seconds=60)


def results(case: str, ranks: int, folder: Path) -> list[Any]:
    """What the function `case`, "module:function", returns on each rank, as JSON has it; it is given `folder`."""
    command = [sys.executable, "-m", "tests.runtime.ranks", case, str(ranks), str(folder)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=3 * PATIENCE.total_seconds())
    assert run.returncode == 0, run.stderr
    return [json.loads((folder / f"rank{rank}.json").read_text()) for rank in range(ranks)]


def main(case: str, ranks: int, folder: Path) -> int:
    importlib.import_module("torch.distributed.tensor")
    module, function = case.split(":")
    run = getattr(importlib.import_module(module), function)
    for rank in range(ranks):
        if os.fork() == 0:
            os._exit(one_rank(run, rank, ranks, folder))
    return max(os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(ranks))


def one_rank(run: Any, rank: int, ranks: int, folder: Path) -> int:
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    store = f"file://{folder / 'store'}"
    try:
        dist.init_process_group("gloo", init_method=store, rank=rank, world_size=ranks, timeout=PATIENCE)
        (folder / f"rank{rank}.json").write_text(json.dumps(run(folder)))
        # All ranks are done before one leaves, so that none waits for a rank that is gone.
        dist.barrier()
        dist.destroy_process_group()
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])))
