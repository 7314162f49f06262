"""Watching what torch does: copies counted, devices named."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


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
