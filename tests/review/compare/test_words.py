from __future__ import annotations

import pytest

from shardc.layout.regions import Regions
from shardc.review.compare.words import rows


@pytest.mark.parametrize(
    ("regions", "said"),
    [
        (((128, 256, 0),), "128..256"),
        (((0, 128, 0), (512, 640, 0)), "0..128, 512..640"),
        (((0, 0, 0),), "nothing"),
        ((), "nothing"),
        (((96, 100, 28),), "96..100 + 28 of zero fill"),
        (((0, 0, 32),), "32 of zero fill"),
        (tuple((i, i + 1, 0) for i in range(3, 67, 8)), "8 ranges of 1, every 8, from 3"),
        (((0, 1, 0), (2, 3, 0), (4, 6, 0), (8, 9, 0)), "4 ranges: 0..1, 2..3, 4..6, …"),
    ],
)
def test_rows(regions: Regions, said: str) -> None:
    assert rows(regions) == said
