"""Concatenations inside a product, and units that would span two parts of them."""

from __future__ import annotations

import pytest

from shardc.layout.nested import nested_parts
from shardc.layout.parse import parse
from shardc.layout.units import CutError, check_nested
from tests.layout.axes import attention


@pytest.mark.parametrize(
    ("layout", "parts"),
    [
        pytest.param("heads * head_dim", [], id="no concatenation"),
        pytest.param("heads * 8 | kv_heads * 8 | 3", [], id="segments are not inside"),
        pytest.param("kv_heads * (2 * head_dim | head_dim | 3)", [16, 8, 3], id="q, k and more of each kv head"),
        pytest.param("kv_heads * (heads per kv_heads * head_dim | 3)", [16, 3], id="per"),
        pytest.param("(heads | kv_heads) * 5", [40, 20], id="scaled"),
        pytest.param("2 * (heads | 3) * 5", [40, 15], id="in the middle"),
        pytest.param("7 | kv_heads * (2 | 3)", [2, 3], id="inside a segment"),
        pytest.param("2 * (1 | 3 * (4 | 5))", [1, 27, 4, 5], id="one in another"),
    ],
)
def test_parts(layout: str, parts: list[int]) -> None:
    assert list(nested_parts(parse(layout), attention(4, 1))) == parts


def test_units_that_fit() -> None:
    check_nested([1280, 384, 128], 128)
    check_nested([7], 1)
    check_nested([], 128)


def test_a_unit_that_spans_two_parts() -> None:
    with pytest.raises(CutError) as caught:
        check_nested([1280, 320, 320], 128)
    message = "a part of 320 is not a multiple of 128: a unit would span two parts"
    assert (caught.value.code, caught.value.message) == ("SHD213", message)
