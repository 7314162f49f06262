"""Which ranks are this process's, and work in several processes."""

from __future__ import annotations

import functools
import os
import signal
from dataclasses import dataclass

import pytest

from shardc.runtime import ShardError
from shardc.store.work import default_jobs, share, work
from shardc.store.writer import Progress


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, ([0, 1, 2, 3, 6], False)),
        ({"RANK": "0", "WORLD_SIZE": "1"}, ([0, 1, 2, 3, 6], False)),
        ({"RANK": "1", "WORLD_SIZE": "2"}, ([1, 3], True)),
        ({"RANK": "7", "WORLD_SIZE": "8"}, ([], True)),
        ({"SLURM_PROCID": "2", "SLURM_NTASKS": "3"}, ([2], True)),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "4", "RANK": "1", "WORLD_SIZE": "2"}, ([1, 3], True)),
        ({"SLURM_NTASKS": "4"}, ([0, 1, 2, 3, 6], False)),
    ],
)
def test_shares(environment: dict[str, str], expected: tuple[list[int], bool]) -> None:
    assert share([0, 1, 2, 3, 6], environment) == expected


def test_every_rank_is_somebodys() -> None:
    shares = [share(range(13), {"RANK": str(rank), "WORLD_SIZE": "4"})[0] for rank in range(4)]
    assert sorted(rank for one in shares for rank in one) == list(range(13))


@pytest.mark.parametrize(("number", "count"), [("2", "2"), ("x", "2"), ("-1", "2"), ("0", "")])
def test_an_environment_that_says_nothing(number: str, count: str) -> None:
    with pytest.raises(
        ValueError, match=rf"^RANK={number} and WORLD_SIZE={count} are no process and its number of processes$"
    ):
        share([0, 1], {"RANK": number, "WORLD_SIZE": count})


@dataclass(frozen=True)
class Doubler:
    """Doubles numbers; 13 and 17 are refused."""

    factor: int = 2

    def write(self, unit: str, progress: Progress) -> int:
        progress(int(unit))
        if unit in ("13", "17"):
            raise ShardError(("SHD406", f"{unit} is unlucky"))
        return int(unit) * self.factor


@pytest.mark.parametrize("jobs", [1, 2])
def test_units_in_their_order(jobs: int) -> None:
    seen: list[int] = []
    assert work(functools.partial(Doubler, 3), ["5", "1", "4"], jobs, seen.append) == [15, 3, 12]
    assert sum(seen) == 10


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_findings_of_all_units(jobs: int) -> None:
    seen: list[int] = []
    with pytest.raises(ShardError) as caught:
        work(Doubler, ["13", "1", "17"], jobs, seen.append)
    assert caught.value.findings == (("SHD406", "13 is unlucky"), ("SHD406", "17 is unlucky"))
    assert sum(seen) == 31


@dataclass(frozen=True)
class Killed:
    """What the system does to a process that takes too much memory."""

    def write(self, unit: str, progress: Progress) -> int:
        os.kill(os.getpid(), signal.SIGKILL)
        return 0


def test_a_process_that_is_stopped() -> None:
    with pytest.raises(OSError, match="a process that wrote files was stopped; what is complete is kept"):
        work(Killed, ["1", "2"], 2, lambda count: None)


def test_stopped_by_hand() -> None:
    def stop(count: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work(Doubler, ["1", "2", "3"], 2, stop)


def test_jobs() -> None:
    assert default_jobs(1) == default_jobs(0) == 1
    assert 1 <= default_jobs(1000) < 1000
