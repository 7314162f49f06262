"""Watching what torch does: copies counted."""

from __future__ import annotations

from typing import Any

import pytest
from torch.utils._python_dispatch import TorchDispatchMode


class CopyCounter(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the copies that torch makes while it is entered: copy_, clone, contiguous and casts included."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.copies = 0
        self.others: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        if name == "copy_":
            self.copies += 1
        elif name in {"clone", "_to_copy", "cat", "contiguous", "index"}:
            self.others.append(name)
        return func(*args, **(kwargs or {}))


@pytest.fixture
def copy_counter() -> CopyCounter:
    return CopyCounter()
