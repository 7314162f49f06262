"""What the generated loaders do on a CUDA device, beside what the card and its bus can do.

    python -m bench.loading.gpu [--scratch DIR] [--rounds 9]

Needs torch and `generated/`; with safetensors, its ways to the device are measured too. Less than five minutes.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from bench.loading import cache
from bench.loading.catalogue import WORKLOADS
from bench.loading.methods import Job
from bench.loading.safetensors_ways import get_slice, load_narrow_copy
from bench.loading.writing import checkpoint_of

HIDDEN, INTER, TP = 8192, 28672, 8
LOAD_TP = 4
BIG = 1 << 30  # bytes of the copies that tell what the card and its bus can do
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": HIDDEN,
    "intermediate_size": INTER,
    "num_hidden_layers": 1,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "vocab_size": 32000,
}
COLUMN_CUT, ROW_CUT = "model.layers.0.mlp.down_proj.weight", "model.layers.0.mlp.up_proj.weight"
#: Clock cycles for which the card is kept busy while the host queues work behind it: about 25 ms.
BUSY = 50_000_000


class Line(NamedTuple):
    """A measurement: seconds, and the bytes that were brought to where they are wanted."""

    text: str
    seconds: float
    bytes: int

    def __str__(self) -> str:
        return f"{self.text:66} {self.seconds * 1e3:10.3f} ms {self.bytes / self.seconds / 1e9:9.1f} GB/s"


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.loading.gpu", description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--scratch", type=Path, default=Path(tempfile.gettempdir()) / "shardc-bench")
    options = parser.parse_args(arguments)
    import torch

    if not torch.cuda.is_available():
        print("no CUDA device: nothing is measured")
        return 0
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, CUDA {torch.version.cuda}", flush=True)
    on_device(options.rounds)
    torch.cuda.empty_cache()
    to_device(options.rounds, options.scratch)
    return 0


def on_device(rounds: int) -> None:
    """`shard_tensors` against one copy a row, and against a contiguous copy of as many bytes."""
    import torch

    from generated import llama

    local = 2 * HIDDEN * INTER // TP
    columns = torch.randint(-9, 9, (HIDDEN, INTER), dtype=torch.int8, device="cuda").to(torch.bfloat16)
    check_columns(columns)
    print(f"\non the device: [{HIDDEN}, {INTER}] BF16 cut by columns, tp={TP}; seconds of the card")
    card, same = device_copies(rounds, local)

    def cut(turn: int) -> object:
        return llama.shard_tensors({COLUMN_CUT: columns}, CONFIG, tp_rank=turn % TP, tp_size=TP)

    ours = show("shard_tensors, by columns", card_seconds(cut, rounds), local)
    rows = {ROW_CUT: columns.view(INTER, HIDDEN)}
    show(
        "shard_tensors, by rows",
        card_seconds(lambda turn: llama.shard_tensors(rows, CONFIG, tp_rank=turn % TP, tp_size=TP), rounds),
        local,
    )
    print("the same, seconds of the host until the card is done")
    called = show("shard_tensors, by columns, its plan included", host_seconds(cut, rounds), local)
    loop = show("one copy a row", host_seconds(lambda turn: copy_rows(columns, turn % TP), rounds), local)
    bar("one copy a row over shard_tensors, of the card", loop.seconds / ours.seconds, 50)
    bar("one copy a row over shard_tensors, of the host, plan included", loop.seconds / called.seconds)
    bar("of the card's copy bandwidth", speed(ours) / speed(card), 0.8)
    bar("of a contiguous copy of the same bytes", speed(ours) / speed(same))


def device_copies(rounds: int, local: int) -> tuple[Line, Line]:
    """What the card can do: a large contiguous copy, and one of `local` bytes."""
    import torch

    source = torch.empty(BIG, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    large = card_seconds(lambda _: target.copy_(source), rounds)
    small = card_seconds(lambda turn: target[:local].copy_(part(source, turn, local)), rounds)
    return show(f"copy of {BIG >> 20} MiB", large, BIG), show("contiguous copy of a rank's bytes", small, local)


def pinned_copy(rounds: int) -> Line:
    """What the bus can do: a large copy of pinned memory."""
    import torch

    source = torch.empty(BIG, dtype=torch.uint8, pin_memory=True)
    target = torch.empty(BIG, dtype=torch.uint8, device="cuda")
    seconds = card_seconds(lambda _: target.copy_(source, non_blocking=True), rounds)
    return show(f"pinned copy of {BIG >> 20} MiB", seconds, BIG)


def check_columns(full: Any) -> None:
    """Raises AssertionError where shard_tensors gives other bytes than a slice, or alters its source."""
    import torch

    from generated import llama

    width, total = INTER // TP, full.float().sum()
    for rank in range(TP):
        kept = llama.shard_tensors({COLUMN_CUT: full}, CONFIG, tp_rank=rank, tp_size=TP)[COLUMN_CUT]
        assert kept.is_contiguous() and torch.equal(kept, full[:, rank * width : (rank + 1) * width]), rank
    assert torch.equal(full.float().sum(), total)


def copy_rows(full: Any, rank: int) -> Any:
    """A column cut as a loop over rows."""
    width = INTER // TP
    kept = full.new_empty(HIDDEN, width)
    for row in range(HIDDEN):
        kept[row].copy_(full[row, rank * width : (rank + 1) * width])
    return kept


def part(big: Any, turn: int, count: int) -> Any:
    """Another part of a large buffer in each turn, so that no cache holds it."""
    begin = turn % (len(big) // count) * count
    return big[begin : begin + count]


def to_device(rounds: int, scratch: Path) -> None:
    """Loads onto the device, the page cache warm, against a copy of pinned memory."""
    workload = WORKLOADS["llama"]
    job = Job(workload, checkpoint_of(workload, scratch), LOAD_TP)
    cache.warm(job.files)
    local = workload.local_bytes(LOAD_TP)
    print(f"\nto the device: {workload.bytes / cache.GIB:.2f} GiB of {workload.name}, tp={LOAD_TP}, page cache warm")
    bus = pinned_copy(rounds)
    for text, load, count in loads(job):
        load(0)
        line = show(text, host_seconds(load, rounds), count * local)
        if text.startswith("shardc"):
            bar("of the pinned bandwidth", speed(line) / speed(bus), 0.9)


def loads(job: Job) -> Iterator[tuple[str, Callable[[int], object], int]]:
    """Each way to the device: its name, the call, and how many ranks it loads."""
    from generated import llama

    folder, size = str(job.folder), job.tp
    yield "shardc, one rank", lambda turn: llama.load(folder, tp_rank=turn % size, tp_size=size, device="cuda"), 1
    if hasattr(llama, "load_ranks"):
        devices = ["cuda"] * size
        text = "shardc load_ranks, all ranks onto this device"
        yield text, lambda _: llama.load_ranks(folder, ranks=range(size), tp_size=size, devices=devices), size
    if find_spec("safetensors"):
        for load in (get_slice, load_narrow_copy):
            yield f"{load.__name__}, then .to('cuda')", partial(then_moved, job, load), 1


def then_moved(job: Job, load: Callable[[Job, int], dict[str, Any]], turn: int) -> dict[str, Any]:
    """One rank loaded to the host, and each tensor moved."""
    return {name: tensor.to("cuda") for name, tensor in load(job, turn % job.tp).items()}


def card_seconds(call: Callable[[int], object], rounds: int) -> float:
    """Median seconds of the card, by events. It is kept busy until the host has queued all of a call."""
    import torch

    times = []
    for turn in range(rounds + 2):
        started, ended = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        torch.cuda._sleep(BUSY)
        started.record()
        kept = call(turn)
        ended.record()
        torch.cuda.synchronize()
        times.append(started.elapsed_time(ended) / 1e3)
        del kept
    return statistics.median(times[2:])


def host_seconds(call: Callable[[int], object], rounds: int) -> float:
    """Median seconds from the call until the card has done all of it."""
    import torch

    times = []
    for turn in range(rounds + 1):
        torch.cuda.synchronize()
        started = time.perf_counter()
        kept = call(turn)
        torch.cuda.synchronize()
        times.append(time.perf_counter() - started)
        del kept
    return statistics.median(times[1:])


def show(text: str, seconds: float, count: int) -> Line:
    """Prints a line and returns it."""
    line = Line(text, seconds, count)
    print(line, flush=True)
    return line


def speed(line: Line) -> float:
    """Bytes a second."""
    return line.bytes / line.seconds


def bar(text: str, measured: float, least: float | None = None) -> None:
    """Prints a ratio, and whether it is what it has to be."""
    verdict = "" if least is None else f"  (≥ {least:g}: {'yes' if measured >= least else 'no'})"
    print(f"  {text}: {measured:.2f}{verdict}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
