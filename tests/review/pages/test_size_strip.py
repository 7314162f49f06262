"""Sizes of mesh dims: which work, which are claimed, and why the others do not work."""

from __future__ import annotations

from shardc.review.pages.size_strip import size_strips
from tests.review.pages.reports import recorded


def test_sizes_of_tp_and_ep_of_glm() -> None:
    strips = size_strips(recorded("glm5_next", "glm-5.3-flash"), {"tp": [1, 2, 4, 8, 16], "ep": [1, 2, 4, 8, 96]})
    assert [strip["dim"] for strip in strips] == ["tp", "ep", "pp"]
    tp, ep = strips[0], strips[1]
    sizes = {size: (local, claimed, why) for size, local, claimed, why in tp["sizes"]}  # type: ignore[attr-defined]
    assert list(sizes) == list(range(1, 65))
    assert [size for size, (local, _, _) in sizes.items() if local is not None] == [1, 2, 4, 8, 16]
    assert (sizes[16][1], sizes[16][2], sizes[32][1]) == (True, [], False)
    assert [tp["why"][i] for i in sizes[32][2]] == [  # type: ignore[index]
        "SHD201 2048 moe_inter cannot be dealt to 32 tp ranks: 16 granules of 128, 0.5 (64 elements) each",
        "SHD201 2048 shared_inter cannot be dealt to 32 tp ranks: 16 granules of 128, 0.5 (64 elements) each",
    ]
    valid = [size for size, local, _, _ in ep["sizes"] if local is not None]  # type: ignore[attr-defined]
    assert valid == [1, 2, 3, 4, 6, 8, 9, 12, 16, 18, 24, 32, 36, 48, 96]
