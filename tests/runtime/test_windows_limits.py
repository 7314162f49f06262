from itertools import pairwise, product

from hypothesis import given
from hypothesis import strategies as st

from shardc.runtime.limits import REMOTE, Limits
from shardc.runtime.memory import host_memory
from shardc.runtime.pieces import cut_copy
from shardc.runtime.strides import Block, Copy, collapsed, reach, row_major
from shardc.runtime.windows import windows_of

from .samples import piece

LIMITS = Limits(window=64, direct=64, parts=8, part=4, gap=16, spare=8, row_gap=16, span=128, threads=1, buffers=1)
MEMORY = host_memory(0)


def spans(*pieces: tuple[int, int]) -> list[tuple[int, int]]:
    """Begin and end of the windows of pieces, given as (begin, length)."""
    return [
        window[:2] for window in windows_of((piece(begin, begin + length, MEMORY) for begin, length in pieces), LIMITS)
    ]


def test_neighbours_are_one_window() -> None:
    assert spans((0, 10), (10, 10), (36, 20)) == [(0, 56)]


def test_a_wide_gap_is_left_out() -> None:
    assert spans((0, 20), (37, 20)) == [(0, 20), (37, 57)]


def test_a_window_has_a_size() -> None:
    assert spans((0, 40), (40, 24), (64, 1)) == [(0, 64), (64, 65)]


def test_gaps_are_half_of_a_window_at_most() -> None:
    """Or its `spare`."""
    assert spans((0, 4), (12, 1)) == [(0, 13)]
    assert spans((0, 4), (13, 1)) == [(0, 4), (13, 14)]
    assert spans((0, 4), (13, 5)) == [(0, 18)]


def test_a_full_window_is_read_alone() -> None:
    assert spans((0, 1), (1, 64), (65, 1)) == [(0, 1), (1, 65), (65, 66)]


def test_pieces_that_share_bytes_are_one_window() -> None:
    """Up to twice the size."""
    assert spans((0, 60), (10, 60), (20, 108)) == [(0, 128)]
    assert spans((0, 60), (10, 119)) == [(0, 60), (10, 129)]


def test_figures_for_stores() -> None:
    assert REMOTE[:8] == (8388608, 8388608, 64, 4096, 1048576, 262144, 1048576, 0)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 64)), max_size=30))
def test_what_is_read_beside_what_is_needed_is_bounded(steps: list[tuple[int, int]]) -> None:
    """Law: of pieces that share nothing, each is in one window, and no window is over half gaps, but for `spare`."""
    pieces, at = [], 0
    for gap, length in steps:
        pieces.append(piece(at + gap, at + gap + length, MEMORY))
        at += gap + length
    windows = windows_of(pieces, LIMITS)
    assert [each for window in windows for each in window.pieces] == pieces
    for window in windows:
        needed = window.nbytes
        assert window.end - window.begin <= min(LIMITS.window, needed + max(needed, LIMITS.spare))
        assert window.begin == window.pieces[0].begin
        assert window.end == window.pieces[-1].end


@given(st.data())
def test_a_copy_is_cut_without_loss(data: st.DataObject) -> None:
    """Law: its parts have each element once; each spans a window at most, and reads through no gap that is too wide."""
    full = data.draw(st.lists(st.integers(1, 7), min_size=1, max_size=3).map(tuple))
    shape = tuple(data.draw(st.integers(1, size)) for size in full)
    copy = collapsed(Copy(shape, Block(0, row_major(full)), Block(0, row_major(shape))))
    limit, row_gap = data.draw(st.integers(1, 40)), data.draw(st.integers(0, 40))
    parts = list(cut_copy(copy, limit, row_gap))
    moved = [pair for part in parts for pair in elements(part)]
    assert sorted(moved) == sorted(elements(copy))
    for part in parts:
        assert reach(part.shape, part.source.strides) <= limit
        found = sorted(source for source, _ in elements(part))
        assert all(after - before <= row_gap + 1 for before, after in pairwise(found))


def elements(copy: Copy) -> list[tuple[int, int]]:
    """Where each element is, and where it goes."""
    return [
        tuple(
            block.offset + sum(place * stride for place, stride in zip(places, block.strides, strict=True))
            for block in (copy.source, copy.target)
        )
        for places in product(*map(range, copy.shape))
    ]  # type: ignore[return-value]
