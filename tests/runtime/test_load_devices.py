"""The whole way to a device: a fake one whose copies are made late, and CUDA."""

from pathlib import Path
from threading import Event
from typing import Any

import pytest
import torch

import shardc.runtime as rt
from shardc.runtime import loading, reading
from shardc.runtime.limits import LOCAL

from .big_model import TP4, big_rank, big_spec, same
from .devices import LateStream, device_of, open_files


@pytest.mark.usefixtures("is_cached")
@pytest.mark.parametrize("form", ["plain", "fused"])
def test_the_whole_way_to_a_device(big: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    stream = LateStream(pause=0.0001)
    monkeypatch.setattr(reading, "uploaders_for", device_of(stream))
    found = rt.load_ranks(big_spec(form), big, TP4, threads=4)
    stream.close()
    for rank, own in enumerate(found):
        assert same(own, big_rank(rank, form)), rank
    assert stream.entries > 10


@pytest.mark.parametrize(("threads", "most"), [(1, 5), (4, 8)])
def test_a_device_that_fails(
    big: Path, monkeypatch: pytest.MonkeyPatch, stopped: Event, threads: int, most: int
) -> None:
    """Other threads end what they have taken, here a window each, and begin no more."""
    monkeypatch.setattr(loading, "LOCAL", LOCAL._replace(span=0))
    stream = LateStream(fail_at=5, known=stopped)
    monkeypatch.setattr(reading, "uploaders_for", device_of(stream))
    with pytest.raises(RuntimeError, match="the device is lost"):
        rt.load_ranks(big_spec(), big, TP4, threads=threads)
    assert stream.queue.empty()  # what was begun is done
    stream.close()
    assert 5 <= stream.entries <= most
    assert open_files(big) == []


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("options", [{}, {"dtype": torch.bfloat16}, {"separate": True}])
@pytest.mark.parametrize("form", ["plain", "fused"])
def test_two_ranks_on_one_device(big: Path, form: str, options: Any) -> None:
    on_host = rt.load_ranks(big_spec(form), big, TP4[:2], **options)
    on_device = rt.load_ranks(big_spec(form), big, TP4[:2], devices=["cuda", "cuda:0"], **options)
    for one, other in zip(on_host, on_device, strict=True):
        assert all(tensor.is_cuda for tensor in other.values())
        assert same(one, {name: tensor.cpu() for name, tensor in other.items()})


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_the_device_is_waited_for_when_a_buffer_is_needed(big: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies wait on events of their own, never for all that the device does."""

    def refuse(*_: object) -> None:
        raise AssertionError("the whole device was waited for")

    for owner in (torch.cuda, torch.cuda.Stream):
        monkeypatch.setattr(owner, "synchronize", refuse)
    found = rt.load(big_spec(), big, TP4[1], device="cuda")
    monkeypatch.undo()
    assert same({name: tensor.cpu() for name, tensor in found.items()}, big_rank(1))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_without_pinned_memory(big: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = torch.empty

    def refuse(*size: Any, pin_memory: bool = False, **kwargs: Any) -> torch.Tensor:
        if pin_memory:
            raise RuntimeError("no pages")
        return empty(*size, **kwargs)

    monkeypatch.setattr(torch, "empty", refuse)
    with pytest.warns(UserWarning, match=r"slower: no pinned memory \(no pages\)$"):
        found = rt.load(big_spec(), big, TP4[1], device="cuda")
    assert same({name: tensor.cpu() for name, tensor in found.items()}, big_rank(1))
