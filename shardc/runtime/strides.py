"""Strided blocks of elements, and copies from one to another: from the file's tensor to a local one."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import NamedTuple


class Block(NamedTuple):
    """Where element (i, j, …) lies: at offset + i * strides[0] + j * strides[1] + …, in elements."""

    offset: int
    strides: tuple[int, ...]


class Copy(NamedTuple):
    """Every element of `shape`, from one block to the other."""

    shape: tuple[int, ...]
    source: Block
    target: Block

    @property
    def elements(self) -> int:
        """How many are copied."""
        return prod(self.shape)

    @property
    def contiguous(self) -> bool:
        """True where the elements lie next to each other on both sides."""
        return len(self.shape) == 1 and self.source.strides == self.target.strides == (1,)


class Zeros(NamedTuple):
    """Every element of `shape` in a block that is to be zero."""

    shape: tuple[int, ...]
    target: Block


@lru_cache(maxsize=4096)
def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a contiguous tensor, in elements."""
    return tuple(prod(shape[dim + 1 :]) for dim in range(len(shape)))


def reach(shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """Elements from the first of a block to the last, both counted; 0 where it has none."""
    return 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True)) if prod(shape) else 0


def collapsed(copy: Copy) -> Copy:
    """The same copy in the fewest dims, one at least: those that follow each other on both sides become one."""
    dims: list[tuple[int, int, int]] = []
    for size, step, to in zip(copy.shape, copy.source.strides, copy.target.strides, strict=True):
        if size == 1:
            continue
        if dims and (dims[-1][1], dims[-1][2]) == (size * step, size * to):
            size *= dims.pop()[0]
        dims.append((size, step, to))
    shape, steps, places = zip(*dims or [(1, 1, 1)], strict=True)
    return Copy(shape, Block(copy.source.offset, steps), Block(copy.target.offset, places))
