"""What a picture marks: segments, what interleaves in them, elements of an axis, in units of a companion."""

from __future__ import annotations

from shardc.plan.stored_dims import stored_dims
from shardc.review.pages.marks import marks
from tests.support import bound

SPEC = """
spec: 1
name: t
architectures: [T]
dtype: BF16
config: {head_dim: d}
axes: {kv: {size: 2}, heads: {size: 4, within: kv}}
let: {qkv: heads * head_dim | kv * head_dim | kv * head_dim}
groups:
  g:
    let: {half: kv * head_dim, size: 2 * 4, pair: size | head_dim}
    tensors:
      flat: {shape: [qkv, 6], shard: segmented_rows}
      own: {shape: [half | half], shard: segmented_rows}
      inside: {shape: [kv * (heads per kv * head_dim | head_dim)], shard: channel_rows}
      named: {shape: [kv * (size | head_dim)], shard: channel_rows}
      paired: {shape: [kv * pair], shard: channel_rows}
      whole: {shape: [6], shard: replicated}
      scalar: {shape: [], shard: replicated}
"""


def _marks(name: str) -> list[object]:
    found = bound(SPEC, {"d": 8})
    (family,) = [one for one in found.families if one.entry.pattern == name]
    return [marks(dim, found) for dim in stored_dims(family, family.stored.parts[0])]


def test_segments_have_their_words_and_the_rows_of_an_element() -> None:
    assert _marks("flat") == [
        [[32, "heads * head_dim", 8, []], [16, "kv * head_dim", 8, []], [16, "kv * head_dim", 8, []]],
        [[6, "6", 0, []]],
    ]


def test_a_name_of_the_group_stays_a_word() -> None:
    assert _marks("own") == [[[16, "half", 8, []], [16, "half", 8, []]]]


def test_what_interleaves_is_inside_its_segment() -> None:
    assert _marks("inside") == [
        [[48, "kv * (heads per kv * head_dim | head_dim)", 24, [[16, "heads per kv * head_dim"], [8, "head_dim"]]]]
    ]


def test_what_interleaves_has_the_words_of_its_author() -> None:
    assert _marks("named") == [[[32, "kv * (size | head_dim)", 16, [[8, "size"], [8, "head_dim"]]]]]
    assert _marks("paired") == [[[32, "kv * pair", 16, [[8, "2 * 4"], [8, "head_dim"]]]]]


def test_a_dim_without_an_axis_has_no_elements_and_a_scalar_no_dims() -> None:
    assert _marks("whole") == [[[6, "6", 0, []]]]
    assert _marks("scalar") == []


def test_a_companion_is_marked_in_its_own_units() -> None:
    text = SPEC.replace("dtype: BF16", "dtype: BF16\nformats: [fp8_block]").replace(
        "      flat: {shape: [qkv, 6], shard: segmented_rows}",
        "      flat.weight: {shape: [qkv, 256], shard: segmented_rows, formats: [fp8_block]}",
    )
    headers = {
        "flat.weight": ("F8_E4M3", (1024, 256)),
        "flat.weight_scale_inv": ("F32", (8, 2)),
        "own": ("BF16", (512,)),
        "inside": ("BF16", (768,)),
        "whole": ("BF16", (6,)),
        "scalar": ("BF16", ()),
    }
    found = bound(text, {"d": 128}, headers)
    family = found.families[0]
    assert [marks(dim, found) for dim in stored_dims(family, family.stored.parts[1])] == [
        [[4, "heads * head_dim", 1, []], [2, "kv * head_dim", 1, []], [2, "kv * head_dim", 1, []]],
        [[2, "256", 0, []]],
    ]
