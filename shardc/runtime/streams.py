"""The queue of copies to one device: on CUDA a stream of their own, beside what the device computes."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

import torch

from shardc.runtime.memory import Memory
from shardc.runtime.rings import Wait


class Stream(Protocol):
    """Copies to a device, done in their order but not at once where they are non-blocking."""

    non_blocking: bool

    def entered(self) -> AbstractContextManager[object]:
        """Copies that are begun inside go into this queue."""

    def mark(self) -> Wait:
        """What to call to wait for all copies begun so far."""


class Immediate:
    """Of a device whose copies are done once they return."""

    non_blocking = False

    def entered(self) -> AbstractContextManager[object]:
        return nullcontext()

    def mark(self) -> Wait:
        return lambda: None


class CudaStream:
    """A stream of its own, behind what the device's current stream has been given so far: memory is there, and zero."""

    non_blocking = True

    def __init__(self, device: torch.device) -> None:
        self.stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self.stream.wait_stream(torch.cuda.current_stream(device))

    def entered(self) -> AbstractContextManager[object]:
        return torch.cuda.stream(self.stream)

    def mark(self) -> Wait:
        event = torch.cuda.Event()  # type: ignore[no-untyped-call]
        event.record(self.stream)
        return event.synchronize


def stream_of(device: torch.device) -> Stream:
    """The queue of a device."""
    return CudaStream(device) if device.type == "cuda" else Immediate()


def staging_memory(size: int, *, pinned: bool) -> Memory:
    """A host buffer that a device reads; unpinned, with a warning, where the system has no more pages to pin."""
    if pinned:
        try:
            return Memory(torch.empty(size, dtype=torch.uint8, pin_memory=True))
        except RuntimeError as error:
            warnings.warn(f"copies to the device will be slower: no pinned memory ({error})", stacklevel=2)
    return Memory(torch.empty(size, dtype=torch.uint8))
