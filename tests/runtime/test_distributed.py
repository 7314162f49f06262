"""Coordinates from torch.distributed, on real ranks, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh

import shardc.runtime as rt
from tests.support import ROOT

from .ranks import results

NAMES = ("tp", "ep")


def asked(given: Any, tp: tuple[int | None, int] = (None, 1)) -> Any:
    """(rank, size) by mesh dim, or the findings."""
    try:
        return {name: [dim.rank, dim.size] for name, dim in rt.mesh(NAMES, *tp, given).items()}
    except rt.ShardError as error:
        return error.findings


def on_four(folder: Path) -> dict[str, Any]:
    """What one of four ranks is told."""
    square = init_device_mesh("cpu", (2, 2), mesh_dim_names=("ep", "tp"))
    replicas = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
    pair = dist.new_group([2, 3])
    return {
        "world": asked("world"),
        "default group": asked(dist.group.WORLD),
        "group": asked(pair),
        "groups": asked({"tp": pair, "ep": dist.group.WORLD}),
        "group and numbers": asked({"tp": dist.group.WORLD, "ep": (1, 3)}),
        "square": asked(square),
        "replicas": asked(replicas),
        "slice": asked(square["tp"]),
        "no name": asked(init_device_mesh("cpu", (4,))),
        "no names": asked(init_device_mesh("cpu", (2, 2))),
        "other names": asked(init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "model"))),
        "outside": asked(DeviceMesh("cpu", [[0, 1]], mesh_dim_names=("ep", "tp"))),
        "twice": asked(square, tp=(0, 2)),
        "world twice": asked("world", tp=(0, 4)),
    }


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    return results("tests.runtime.test_distributed:on_four", 4, tmp_path_factory.mktemp("ranks"))


@pytest.mark.parametrize(
    ("given", "tp", "ep"),
    [
        ("world", lambda rank: [rank, 4], lambda rank: [0, 1]),
        ("default group", lambda rank: [rank, 4], lambda rank: [0, 1]),
        ("group and numbers", lambda rank: [rank, 4], lambda rank: [1, 3]),
        ("square", lambda rank: [rank % 2, 2], lambda rank: [rank // 2, 2]),
        ("replicas", lambda rank: [rank % 2, 2], lambda rank: [0, 1]),
        ("slice", lambda rank: [rank % 2, 2], lambda rank: [0, 1]),
        ("no name", lambda rank: [rank, 4], lambda rank: [0, 1]),
    ],
)
def test_coordinates(
    told: list[dict[str, Any]], given: str, tp: Callable[[int], list[int]], ep: Callable[[int], list[int]]
) -> None:
    assert [one[given] for one in told] == [{"tp": tp(rank), "ep": ep(rank)} for rank in range(4)]


def test_a_process_outside_a_group(told: list[dict[str, Any]]) -> None:
    outside = [["SHD410", "this process is not in the process group"]]
    assert [one["group"] for one in told] == [
        outside,
        outside,
        {"tp": [0, 2], "ep": [0, 1]},
        {"tp": [1, 2], "ep": [0, 1]},
    ]
    assert told[0]["groups"] == [["SHD410", "tp: this process is not in the process group"]]
    assert told[3]["groups"] == {"tp": [1, 2], "ep": [3, 4]}


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("no names", "a DeviceMesh of 2 dims needs mesh_dim_names: this model has tp, ep"),
        ("other names", "the DeviceMesh has dp, model, none of which this model has: tp, ep"),
        ("twice", "tp is given twice: in mesh, and by tp_rank and tp_size"),
        ("world twice", "tp is given twice: in mesh, and by tp_rank and tp_size"),
    ],
)
def test_refused_on_every_rank(told: list[dict[str, Any]], given: str, text: str) -> None:
    assert [one[given] for one in told] == [[["SHD410", text]]] * 4


def test_a_process_outside_a_device_mesh(told: list[dict[str, Any]]) -> None:
    assert [one["outside"] for one in told[:2]] == [{"tp": [0, 2], "ep": [0, 1]}, {"tp": [1, 2], "ep": [0, 1]}]
    assert told[2]["outside"] == told[3]["outside"] == [["SHD410", "this process is not in the DeviceMesh"]]


@pytest.mark.parametrize("given", [8, "wolrd", ("tp", 2)])
def test_what_is_no_mesh(given: object) -> None:
    text = f'mesh must be (rank, size) by name, a DeviceMesh, a ProcessGroup or "world", not {given!r}'
    assert asked(given) == (("SHD410", text),)


def test_world_without_a_process_group() -> None:
    text = 'mesh="world" needs a process group: call torch.distributed.init_process_group() first'
    assert asked("world") == (("SHD410", text),)


def test_world_where_torch_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.distributed.is_available", lambda: False)
    text = 'mesh="world" needs torch.distributed, which this torch is built without'
    assert asked("world") == (("SHD410", text),)


def test_a_torch_without_process_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("torch.distributed.ProcessGroup")
    monkeypatch.delattr("torch.distributed.GroupMember")
    monkeypatch.delitem(sys.modules, "torch.distributed.device_mesh")
    assert asked({"tp": (1, 2)}) == {"tp": [1, 2], "ep": [0, 1]}


def test_dtensor_is_imported_only_when_asked() -> None:
    code = "import sys, generated.llama; print('torch.distributed.tensor' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"
