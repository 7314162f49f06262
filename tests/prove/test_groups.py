"""Ranks of a mesh of two dims: each sums and concatenates along its own line only."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import torch
import torch.distributed as dist

from shardc.prove.groups import lines

RANKS = tuple({"tp": tp, "ep": ep} for ep in range(2) for tp in range(2))


def test_sums_and_concatenations_on_a_mesh_of_two_by_two(tmp_path: Path) -> None:
    context = multiprocessing.get_context("forkserver")
    processes = [context.Process(target=_speak, args=(rank, tmp_path)) for rank in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    found = [torch.load(tmp_path / f"{rank}.pt") for rank in range(4)]
    # Each gives 10 ** its rank: tp ranks are neighbours, ep ranks are two apart.
    assert [one["tp"].tolist() for one in found] == [[11.0], [11.0], [1100.0], [1100.0]]
    assert [one["ep"].tolist() for one in found] == [[101.0], [1010.0], [101.0], [1010.0]]
    # Each gives one more element than its rank.
    assert [one["joined"].tolist() for one in found] == [
        [[0.0, 1.0, 1.0]],
        [[0.0, 1.0, 1.0]],
        [[2.0, 2.0, 2.0, 3.0, 3.0, 3.0, 3.0]],
        [[2.0, 2.0, 2.0, 3.0, 3.0, 3.0, 3.0]],
    ]


def _speak(rank: int, folder: Path) -> None:
    dist.init_process_group("gloo", init_method=f"file://{folder / 'store'}", rank=rank, world_size=4)
    across = lines({"tp": 2, "ep": 2}, RANKS, rank)
    mine = torch.tensor([10.0**rank])
    joined = across["tp"].concatenate(torch.full((1, rank + 1), float(rank)))
    torch.save({"tp": across["tp"].sum(mine), "ep": across["ep"].sum(mine), "joined": joined}, folder / f"{rank}.pt")
    assert mine.tolist() == [10.0**rank], "what is summed is left as it was"
    dist.barrier()
    dist.destroy_process_group()
