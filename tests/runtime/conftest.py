"""Watching what torch does: copies counted, devices named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from shardc.runtime import reading
from shardc.runtime.files import SourceFile

from .big_model import big_tensors


class CopyCounter(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the copies that torch makes while it is entered: copy_, clone, contiguous and casts included.

    `devices` are those of all tensors that it works on or makes.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.copies = 0
        self.others: list[str] = []
        self.devices: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        if name == "copy_":
            self.copies += 1
        elif name in {"clone", "_to_copy", "cat", "contiguous", "index"}:
            self.others.append(name)
        result = func(*args, **(kwargs or {}))
        touched = [one for one in tree_leaves((args, kwargs, result)) if isinstance(one, torch.Tensor)]
        self.devices |= {tensor.device.type for tensor in touched}
        return result


@pytest.fixture
def copy_counter() -> CopyCounter:
    return CopyCounter()


@pytest.fixture(scope="session")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint of 65 MB in two files."""
    directory = tmp_path_factory.mktemp("big")
    full = big_tensors()
    files = {"a.safetensors": [name for name in full if "e." in name or name == "all"]}
    files["b.safetensors"] = [name for name in full if name not in files["a.safetensors"]]
    for file, names in files.items():
        save_file({name: full[name] for name in names}, directory / file)
    (directory / "config.json").write_text("{}")
    weight_map = {name: file for file, names in files.items() for name in names}
    (directory / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
    return directory


@pytest.fixture(params=["mapped", "read"])
def is_cached(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "read":
        monkeypatch.setattr(SourceFile, "cached", lambda *_: None)


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch) -> Event:
    """Set once the reader hands out no more windows."""
    event = Event()

    class Watched(reading.Jobs):
        def stop(self) -> None:
            super().stop()
            event.set()

    monkeypatch.setattr(reading, "Jobs", Watched)
    return event


@pytest.fixture
def torch_threads() -> Iterator[None]:
    """The number of torch's threads comes back after the test."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)
