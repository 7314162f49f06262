"""`make demo`: a toy GLM-5.3-Flash written, loaded on every rank of tp=4, and merged back byte for byte."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import click
import torch

from generated import _runtime, glm5_next
from scripts.merge import Rank, merge, same_bytes, strays
from scripts.tiny_checkpoint import byte_count, read_checkpoint, write_checkpoint

ROOT = Path(__file__).parent.parent
CHECKPOINT = ROOT / "demo" / "glm-5.3-flash-toy"
TP = 4


def main() -> int:
    """Returns the exit code: 1 where a merged byte differs from the file."""
    shutil.rmtree(CHECKPOINT, ignore_errors=True)
    write_checkpoint(CHECKPOINT)
    full = read_checkpoint(CHECKPOINT)
    wanted = {name: tensor for name, tensor in full.items() if not name.startswith("model.visual.")}
    click.echo(f"toy GLM-5.3-Flash: {len(full)} tensors, {megabytes(byte_count(full))}, in {CHECKPOINT.name}/")

    show_plan()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    ranks = []
    for rank in range(TP):
        started = time.perf_counter()
        ranks.append(load_rank(CHECKPOINT, rank, TP, device))
        seconds = time.perf_counter() - started
        kept = byte_count(ranks[-1].tensors)
        click.echo(f"rank {rank} of {TP} on {device}: planned and loaded {megabytes(kept)} in {seconds * 1000:.0f} ms")

    faults = differences(ranks, wanted)
    for fault in faults:
        click.echo(f"DIFFERS: {fault}")
    if not faults:
        click.echo(f"merged: {len(wanted)} tensors, {megabytes(byte_count(wanted))}, equal to the file byte for byte")
    return 1 if faults else 0


def show_plan() -> None:
    """Runs `shardc plan` on the toy checkpoint."""
    arguments = ["plan", "specs/glm5_next.yaml", "--checkpoint", str(CHECKPOINT.relative_to(ROOT)), "--tp", str(TP)]
    click.echo(f"\n$ shardc {' '.join(arguments)}")
    subprocess.run([Path(sys.executable).with_name("shardc"), *arguments], cwd=ROOT, check=True)
    click.echo()


def load_rank(checkpoint: Path, rank: int, tp: int, device: str) -> Rank:
    """One rank's plan and its tensors, read through the generated module onto `device` and brought back to the CPU."""
    config = json.loads((checkpoint / "config.json").read_text())
    shards = glm5_next.plan(config, {"tp": (rank, tp)}, _runtime.read_headers(checkpoint))
    loaded = glm5_next.load(str(checkpoint), tp_rank=rank, tp_size=tp, device=device)
    return Rank(shards, {name: tensor.cpu() for name, tensor in loaded.items()})


def differences(ranks: list[Rank], file: dict[str, torch.Tensor]) -> list[str]:
    """What of the ranks, merged, is not what the file holds, by tensor name; empty where all bytes agree."""
    merged = merge(ranks)
    faults = [f"{name} is in the file, but on no rank" for name in file.keys() - merged.keys()]
    faults += [f"{name} is on a rank, but not in the file" for name in merged.keys() - file.keys()]
    faults += [f"{name}, merged" for name in file.keys() & merged.keys() if not same_bytes(file[name], merged[name])]
    faults += [f"{name} on rank {number}" for number, rank in enumerate(ranks) for name in strays(rank, merged)]
    return sorted(faults)


def megabytes(count: int) -> str:
    """A count of bytes in MB, 10^6 bytes."""
    return f"{count / 1e6:.1f} MB"


if __name__ == "__main__":
    raise SystemExit(main())
