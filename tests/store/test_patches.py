"""A rank's part of a tensor that is in pieces: element by element, whatever the pieces and the regions."""

from __future__ import annotations

from itertools import pairwise, product

import torch
from hypothesis import given
from hypothesis import strategies as st

from shardc.runtime.headers import Header
from shardc.runtime.regions import Spans, local_size, normalise, pieces
from shardc.store.blocks import blocks, shape_of
from shardc.store.patches import Patch, cut_patches, in_block
from shardc.store.reader import view

SIZE = 8


@st.composite
def grids(draw: st.DrawFn) -> list[list[tuple[int, int]]]:
    """Two dims of 8, each cut into runs."""
    cuts = [sorted({0, SIZE, *draw(st.sets(st.integers(1, SIZE - 1)))}) for _ in range(2)]
    return [list(pairwise(ends)) for ends in cuts]


@st.composite
def regions(draw: st.DrawFn) -> Spans:
    runs = draw(st.lists(st.tuples(st.integers(0, SIZE), st.integers(0, SIZE), st.integers(0, 2)), max_size=3))
    return normalise((min(a, b), max(a, b), pad) for a, b, pad in runs)


@given(grid=grids(), at=st.tuples(regions(), regions()), limit=st.integers(1, 80))
def test_the_same_elements(grid: list[list[tuple[int, int]]], at: tuple[Spans, Spans], limit: int) -> None:
    full = torch.arange(SIZE * SIZE).reshape(SIZE, SIZE) + 1
    files = {f"{cell}": view(full, cell) for cell in product(*grid)}
    whole = [
        Patch(Header("I64", tuple(part.shape), name), tuple((0, size) for size in part.shape), cell)
        for (name, part), cell in zip(files.items(), product(*grid), strict=True)
    ]
    expected = torch.zeros(tuple(map(local_size, at)), dtype=torch.int64)
    for rows, columns in product(*map(pieces, at)):
        source = full[rows[0] : rows[1], columns[0] : columns[1]]
        expected[rows[2] : rows[2] + source.shape[0], columns[2] : columns[2] + source.shape[1]] = source
    patches = list(cut_patches(whole, at))
    found = torch.zeros_like(expected)
    for block in blocks(tuple(expected.shape), 8, max(limit, 8)):
        held = torch.zeros(shape_of(block), dtype=torch.int64)
        for patch in patches:
            part = in_block(patch, block)
            if part is not None:
                view(held, part.to).copy_(view(files[part.header.file], part.source))
        view(found, block).copy_(held)
    assert torch.equal(found, expected)


def test_a_scalar() -> None:
    header = Header("F32", (), "a")
    assert list(cut_patches([Patch(header, (), ())], ())) == [Patch(header, (), ())]
