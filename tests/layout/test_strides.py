"""How many rows one element of an axis covers, wherever it occurs in a layout."""

from __future__ import annotations

import pytest

from shardc.layout.parse import parse
from shardc.layout.strides import strides
from tests.layout.axes import attention


@pytest.mark.parametrize(
    ("layout", "of_heads", "of_kv_heads"),
    [
        pytest.param("heads", [1], [], id="alone"),
        pytest.param("heads * head_dim", [8], [], id="a head of 8 rows"),
        pytest.param("2 * heads", [1], [], id="what stands before it does not count"),
        pytest.param("2 * (heads * head_dim)", [8], [], id="in a block"),
        pytest.param("heads * head_dim * 3", [24], [], id="a product of three"),
        pytest.param("heads * 8 | kv_heads * 4 | kv_heads * 2", [8], [4, 2], id="of each segment"),
        pytest.param("(heads | kv_heads) * 5", [5], [5], id="segments, scaled"),
        pytest.param("kv_heads * (2 * head_dim | head_dim)", [], [24], id="all that belongs to it"),
        pytest.param("kv_heads * heads", [1], [8], id="an axis in an axis"),
        # One kv head is its two heads of 8 rows, and 3 rows.
        pytest.param("kv_heads * (heads per kv_heads * 8 | 3)", [8], [19], id="per"),
        pytest.param("heads * local(heads)", [2], [], id="a local size is a number"),
        pytest.param("hidden * 2 + 1", [], [], id="no axis"),
        pytest.param("min(hidden, 3)", [], [], id="a function of numbers"),
    ],
)
def test_strides(layout: str, of_heads: list[int], of_kv_heads: list[int]) -> None:
    here = attention(4, 1)
    assert strides(parse(layout), "heads", here) == of_heads
    assert strides(parse(layout), "kv_heads", here) == of_kv_heads
