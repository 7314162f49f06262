"""Words for the rows of all ranks: what they look like, and that they are exact."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardc.layout.regions import Region, Regions, merge
from shardc.review.sheets.words import MAX_WORDS, in_equal_blocks, is_whole, words


def ranks(n: int, rows: object) -> list[Regions]:
    """The rows of n ranks; `rows` gives the list of each."""
    assert callable(rows)
    return [merge([(start, stop, 0) for start, stop in rows(r)]) for r in range(n)]


@pytest.mark.parametrize(
    ("by_rank", "said"),
    [
        (ranks(8, lambda r: [(512 * r, 512 * r + 512)]), "512r..+512"),
        (ranks(8, lambda r: [(r, r + 1)]), "r..+1"),
        (ranks(2, lambda r: [(0, 9)]), "0..9"),
        (
            ranks(8, lambda r: [(1792 * r, 1792 * r + 1792), (14336 + 1792 * r, 16128 + 1792 * r)]),
            "1792r..+1792, 14336+1792r..+1792",
        ),
        (ranks(16, lambda r: [(r // 4 * 128, r // 4 * 128 + 128)]), "128(r//4)..+128"),
        (ranks(16, lambda r: [(r % 4 * 128, r % 4 * 128 + 128)]), "128(r%4)..+128"),
        (ranks(2, lambda r: [(i * 32 + 16 * r, i * 32 + 16 * r + 16) for i in range(64)]), "16r..+16 x64 every 32"),
        (ranks(8, lambda r: [(i * 8 + r, i * 8 + r + 1) for i in range(36)]), "r..+1 x36 every 8"),
        ([((0, 22, 0),), ((22, 43, 0),), ((43, 64, 0),)], "r=0: 0..22; r=1: 22..43; r=2: 43..64"),
        ([((0, 3, 0),), ((3, 6, 0),), ((6, 9, 0),), ((9, 10, 2),)], "r=0-2: 3r..+3; r=3: 9..10, 2 zero"),
        ([((0, 8, 0),), ((0, 0, 8),), ((0, 0, 8),)], "r=0: 0..8; r=1-2: 8 zero"),
        ([((8, 12, 0),), ((4, 8, 0),), ((0, 4, 0),)], "8-4r..+4"),
        ([((0, 4, 0),), ()], "r=0: 0..4; r=1: nothing"),
    ],
)
def test_words(by_rank: list[Regions], said: str) -> None:
    assert words(by_rank) == said


def test_segments_that_meet_on_one_rank_are_two_in_words() -> None:
    """Rank 3 has the end of the first segment and the begin of the second: rows 12..20 in the file."""
    by_rank = ranks(4, lambda r: [(4 * r, 4 * r + 4), (16, 20)])
    assert by_rank[3] == ((12, 20, 0),)
    assert words(by_rank) == "4r..+4, 16..20"


def test_runs_that_happen_to_lie_at_one_pitch_on_one_rank() -> None:
    by_rank = ranks(8, lambda r: [(4 * r, 4 * r + 4), (44 + 4 * (r // 4), 48 + 4 * (r // 4)), (64 + 4 * (r // 4), 68 + 4 * (r // 4))])  # fmt: skip
    assert words(by_rank) == "16(r//4)+4(r%4)..+4, 44+4(r//4)..+4, 64+4(r//4)..+4"


def test_what_no_words_are_short_enough_for() -> None:
    starts = (0, 7, 19, 23, 41, 57, 61, 83, 97, 113, 131, 151, 173, 197)
    by_rank = [merge([(s + 200 * r * r, s + 200 * r * r + 1 + r, 0) for s in starts]) for r in range(3)]
    said = words(by_rank)
    assert re.fullmatch(r"irregular, up to 14 runs of rows a rank, digest [0-9a-f]{16}", said)
    moved = [*by_rank[:2], (*by_rank[2][:-1], (2000, 2003, 0))]
    assert words(moved) != said


def test_equal_blocks() -> None:
    assert in_equal_blocks(ranks(4, lambda r: [(2 * r, 2 * r + 2)]), 8)
    assert not in_equal_blocks(ranks(4, lambda r: [(6 - 2 * r, 8 - 2 * r)]), 8)
    assert not in_equal_blocks([((0, 2, 0),), ((2, 3, 1),)], 3)
    assert is_whole(ranks(4, lambda r: [(0, 8)]), 8)
    assert not is_whole(ranks(4, lambda r: [(0, 8)]), 9)


REGION = st.tuples(st.integers(0, 40), st.integers(1, 9), st.sampled_from([0, 0, 0, 2]))
RANK = st.lists(REGION, max_size=5).map(lambda found: merge([(start, start + n, pad) for start, n, pad in found]))


@st.composite
def regular(draw: st.DrawFn) -> list[Regions]:
    """Runs that start on a line by r // k and r % k, some ranks left out or padded: what layouts give."""
    k, n = draw(st.sampled_from([1, 2, 4])), draw(st.sampled_from([4, 8]))
    lines = draw(st.lists(st.tuples(*[st.integers(0, 50)] * 3, st.integers(1, 6)), min_size=1, max_size=4))
    pad_from, pad = draw(st.integers(0, n)), draw(st.integers(0, 3))
    out = []
    for r in range(n):
        runs: list[Region] = [(c + a * (r // k) + b * (r % k), c + a * (r // k) + b * (r % k) + size, 0) for c, a, b, size in lines]  # fmt: skip
        out.append(merge([*runs, (0, 0, pad)] if r >= pad_from else runs))
    return out


@given(st.one_of(st.lists(RANK, min_size=1, max_size=6), regular()))
def test_the_rows_can_be_read_back(by_rank: list[Regions]) -> None:
    said = words(by_rank)
    assert len(said) <= MAX_WORDS
    if not said.startswith("irregular"):
        assert [read(said, r) for r in range(len(by_rank))] == by_rank


def read(said: str, r: int) -> Regions:
    """The rows that the words give rank r."""
    for stretch in said.split("; "):
        ranks = re.match(r"r=([0-9]+)(?:-([0-9]+))?: ", stretch)
        if ranks is None:
            return rows(stretch, r)
        if int(ranks[1]) <= r <= int(ranks[2] or ranks[1]):
            return rows(stretch.removeprefix(ranks[0]), r)
    raise AssertionError(f"{said} does not speak of rank {r}")


def rows(said: str, r: int) -> Regions:
    out: list[Region] = []
    for one in said.split(", ") if said != "nothing" else []:
        if one.endswith(" zero"):
            out.append((0, 0, int(one.removesuffix(" zero"))))
            continue
        found = re.fullmatch(r"(.+)\.\.(\+?)([0-9]+)(?: x([0-9]+) every (-?[0-9]+))?", one)
        assert found is not None, one
        start = eval(re.sub(r"([0-9])(?=[r(])", r"\1*", found[1]), {"r": r})
        size = int(found[3]) if found[2] else int(found[3]) - start
        pitch = int(found[5] or 0)
        out += [(start + i * pitch, start + i * pitch + size, 0) for i in range(int(found[4] or 1))]
    return merge(out)
