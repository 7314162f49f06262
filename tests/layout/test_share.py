"""One rank's elements of an axis: a span, or every so many of one."""

from __future__ import annotations

import pytest

from shardc.layout.share import Share

SPAN = Share(2, 5, 1)
#: Granules of 2, of which there are 7 on 3 ranks: rank 1 has 1 and 4, of 13 elements rank 0 has a short one.
SECOND, FIRST = Share(2, 10, step=6, block=2), Share(0, 13, step=6, block=2)


@pytest.mark.parametrize(
    ("share", "runs", "real", "local"),
    [
        (SPAN, [(2, 5)], 3, 4),
        (Share(3, 3, 2), [(3, 3)], 0, 2),
        (SECOND, [(2, 4), (8, 10)], 4, 4),
        (FIRST, [(0, 2), (6, 8), (12, 13)], 5, 5),
        (Share(0, 0, step=2), [(0, 0)], 0, 0),
        (Share(4, 5, step=3), [(4, 5)], 1, 1),
    ],
)
def test_its_elements(share: Share, runs: list[tuple[int, int]], real: int, local: int) -> None:
    assert list(share.runs) == runs
    assert share.run_count == len(runs)
    assert (share.real, share.local) == (real, local)
    assert [e for e in range(20) if e in share] == [e for start, stop in runs for e in range(start, stop)]


def test_of_groups() -> None:
    assert Share(6, 15, 3) == SPAN * 3
    assert Share(6, 30, step=18, block=6) == SECOND * 3
    assert list((FIRST * 2).runs) == [(0, 4), (12, 16), (24, 26)]
    assert Share(0, 0) == SECOND * 0
