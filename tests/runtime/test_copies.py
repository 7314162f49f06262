import pytest
import torch

from shardc.runtime.dtypes import FILE_DTYPES, TORCH_DTYPES
from shardc.runtime.placing import fills_of
from shardc.runtime.regions import Spans
from shardc.runtime.resharding import allocate, copy_regions
from shardc.runtime.shards import Layout, Shard

from .conftest import CopyCounter
from .tiny_model import arange


def shard(
    shape: tuple[int, ...],
    at: tuple[Spans, ...],
    dtype: str = "F32",
    load: str | None = None,
    values: tuple[int, ...] | None = None,
) -> Shard:
    return Shard("w", Layout("column_parallel", "dense", dtype, (dtype,), load, shape, at, values=values))


def copy_shard(shard: Shard, full: torch.Tensor) -> torch.Tensor:
    """The local tensor of a shard."""
    (fill,) = fills_of([shard], {})
    local = allocate(fill.buffer, full.device)
    copy_regions(full, fill, local)
    return local


def test_rows() -> None:
    local = copy_shard(shard((8, 2), (((4, 6, 0),), ((0, 2, 0),))), arange(8, 2))
    assert local.tolist() == [[8.0, 9.0], [10.0, 11.0]]
    assert local.untyped_storage().nbytes() == 16


def test_cols_are_one_strided_copy(copy_counter: CopyCounter) -> None:
    with copy_counter:
        local = copy_shard(shard((4, 6), (((0, 4, 0),), ((2, 4, 0),))), arange(4, 6))
    assert local.tolist() == [[2.0, 3.0], [8.0, 9.0], [14.0, 15.0], [20.0, 21.0]]
    assert (copy_counter.copies, copy_counter.others) == (1, [])
    assert local.is_contiguous()


def test_q_k_v_are_three_copies(copy_counter: CopyCounter) -> None:
    with copy_counter:
        local = copy_shard(shard((8, 1), (((2, 4, 0), (5, 6, 0), (7, 8, 0)), ((0, 1, 0),))), arange(8, 1))
    assert local.flatten().tolist() == [2.0, 3.0, 5.0, 7.0]
    assert copy_counter.copies == 3


def test_padding_after_each_half_is_zero() -> None:
    local = copy_shard(shard((44, 2), (((11, 22, 1), (33, 44, 1)), ((0, 2, 0),))), arange(44, 2))
    assert local.shape == (24, 2)
    assert local[0].tolist() == [22.0, 23.0]
    assert local[11].tolist() == [0.0, 0.0]
    assert local[12].tolist() == [66.0, 67.0]
    assert local[23].tolist() == [0.0, 0.0]
    assert local.sum() == 2398


def test_nothing_is_copied_of_padding_alone(copy_counter: CopyCounter) -> None:
    with copy_counter:
        local = copy_shard(shard((4, 24), (((0, 4, 0),), ((0, 0, 8),))), arange(4, 24))
    assert local.tolist() == [[0.0] * 8] * 4
    assert copy_counter.copies == 0


def test_the_cast_is_part_of_the_copy(copy_counter: CopyCounter) -> None:
    with copy_counter:
        local = copy_shard(shard((8,), (((2, 6, 0),),), load="BF16"), arange(8))
    assert local.dtype == torch.bfloat16
    assert local.tolist() == [2.0, 3.0, 4.0, 5.0]
    assert (copy_counter.copies, copy_counter.others) == (1, [])


@pytest.mark.parametrize(
    ("shape", "at", "values"),
    [
        ((2,), (((0, 2, 0),),), [8, 4]),
        ((6, 2), (((2, 4, 0),), ((0, 2, 0),)), [[8, 4], [8, 4]]),
    ],
)
def test_values_that_a_rank_has_of_its_own(shape: tuple[int, ...], at: tuple[Spans, ...], values: list[object]) -> None:
    full = torch.full(shape, 99, dtype=torch.int64)
    local = copy_shard(shard(shape, at, "I64", values=(8, 4)), full)
    assert (local.tolist(), local.dtype, local.is_contiguous()) == (values, torch.int64, True)


@pytest.mark.parametrize("name", TORCH_DTYPES)
def test_bytes_of_every_dtype(name: str) -> None:
    dtype = TORCH_DTYPES[name]
    full = (torch.arange(4 * 6 * dtype.itemsize) % 2).to(torch.uint8).reshape(4, -1).view(dtype)
    local = copy_shard(shard((4, 6), (((1, 3, 1),), ((2, 4, 2),)), FILE_DTYPES[dtype]), full)
    assert local.dtype == dtype
    expected = torch.zeros(3, 4 * dtype.itemsize, dtype=torch.uint8)
    expected[:2, : 2 * dtype.itemsize] = full[1:3, 2:4].contiguous().view(torch.uint8)
    assert torch.equal(local.view(torch.uint8), expected)


def test_a_parameter_is_copied_without_gradient() -> None:
    full = torch.nn.Parameter(arange(8))
    assert not copy_shard(shard((8,), (((0, 4, 0),),)), full).requires_grad


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("load", [None, "BF16"])
def test_copies_on_a_device(load: str | None) -> None:
    cols = shard((64, 48), (((8, 24, 8), (32, 48, 0)), ((16, 32, 0),)), load=load)
    full = arange(64, 48)
    assert torch.equal(copy_shard(cols, full.cuda()).cpu(), copy_shard(cols, full))


def test_a_source_with_strides_of_its_own() -> None:
    full = arange(6, 8)[:, 1:5].t()
    local = copy_shard(shard((4, 6), (((1, 3, 0),), ((0, 6, 0),))), full)
    assert torch.equal(local, full[1:3])
    assert local.is_contiguous()
