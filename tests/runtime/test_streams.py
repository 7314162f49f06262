import pytest
import torch

from shardc.runtime.streams import CudaStream, Immediate, staging_memory, stream_of

NEEDS_CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


def test_copies_to_other_devices_are_done_at_once() -> None:
    stream = stream_of(torch.device("meta"))
    assert isinstance(stream, Immediate)
    assert not stream.non_blocking
    with stream.entered():
        pass
    assert stream.mark()() is None


def test_memory_that_is_not_pinned() -> None:
    memory = staging_memory(100, pinned=False)
    assert (memory.flat.nbytes, memory.flat.is_pinned()) == (100, False)


def test_no_more_pages_to_pin(monkeypatch: pytest.MonkeyPatch) -> None:
    empty = torch.empty

    def refuse(*size: int, dtype: torch.dtype, pin_memory: bool = False) -> torch.Tensor:
        if pin_memory:
            raise RuntimeError("out of memory")
        return empty(*size, dtype=dtype)

    monkeypatch.setattr(torch, "empty", refuse)
    text = r"^copies to the device will be slower: no pinned memory \(out of memory\)$"
    with pytest.warns(UserWarning, match=text):
        memory = staging_memory(64, pinned=True)
    assert memory.flat.nbytes == 64


@pytest.mark.gpu
@NEEDS_CUDA
def test_a_stream_beside_the_current_one() -> None:
    device = torch.device("cuda:0")
    stream = stream_of(device)
    assert isinstance(stream, CudaStream)
    assert stream.non_blocking
    host = staging_memory(1 << 20, pinned=True).flat.fill_(7)
    assert host.is_pinned()
    there = torch.zeros(1 << 20, dtype=torch.uint8, device=device)
    with stream.entered():
        assert torch.cuda.current_stream() == stream.stream
        there.copy_(host, non_blocking=True)
    stream.mark()()
    assert bool((there == 7).all())
