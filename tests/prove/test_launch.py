"""Ranks that fail, fall silent or die."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shardc.prove import launch
from shardc.prove.launch import run_ranks
from shardc.prove.task import Task


def task(folder: Path, ranks: int = 2) -> Task:
    """A task whose loader is not in its package."""
    (folder / "generated").mkdir()
    (folder / "generated" / "__init__.py").touch()
    return Task(
        folder, folder, "nothing", folder, {"model_type": "llama"}, {"tp": ranks}, tuple({"tp": i} for i in range(ranks)), (), ((1,),)
    )  # fmt: skip


def test_every_rank_says_why_it_failed(tmp_path: Path) -> None:
    told: list[str] = []
    outcomes = run_ranks(task(tmp_path), told.append)
    assert [outcome.rank for outcome in outcomes] == [0, 1]
    own = [outcome.error for outcome in outcomes if not outcome.waited]
    assert own and set(own) == {"ModuleNotFoundError: No module named 'generated.nothing'"}
    assert re.fullmatch(r"rank [01] of 2: ModuleNotFoundError: No module named 'generated.nothing'", told[0])


def test_a_rank_whose_partner_never_comes_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rank 1 dies before it meets the others; rank 0 would wait for it."""
    monkeypatch.setattr(launch, "run", _one_dies)
    monkeypatch.setattr(launch, "GRACE", 0.5)
    first, second = run_ranks(task(tmp_path), lambda text: None)
    assert (first.error, first.waited) == ("stopped: another rank failed", True)
    assert (second.error, second.waited) == ("the process ended with exit code 7", False)


def _one_dies(task: Task, rank: int) -> None:
    import os
    import time

    if rank == 1:
        os._exit(7)
    time.sleep(60)
