"""Rows of the table: tensors that are cut alike, together."""

from __future__ import annotations

from shardc.plan.rows import Row, rows
from shardc.plan.totals import Totals
from tests.plan.support import PIPELINE_CONFIG, example, pipeline, spec
from tests.support import plan


def test_a_row_for_each_entry_and_part() -> None:
    table = rows(example(2, 2), {"tp": 1, "ep": 0})
    assert [(row.tensor, row.count, row.units) for row in table] == [
        ("embed.weight", 1, "-"),
        ("layers.*.norm.weight", 2, "-"),
        ("layers.*.qk.weight", 2, "2 x 4"),
        ("layers.*.o.weight", 2, "2 x 4"),
        ("layers.*.o.bias", 2, "-"),
        ("layers.*.experts.*.up.weight", 4, "-"),
        ("layers.*.experts.*.up.weight_scale", 4, "-"),
        ("layers.*.experts.*.up.weight_scale_2", 4, "-"),
    ]


def test_a_row_in_full() -> None:
    [row] = rows(example(2, 2), {"tp": 1, "ep": 0}, "embed*")
    # 2 rows of 8 are in the file; the other ep ranks hold them too.
    totals = Totals(full=80, local=64, replicated=16, padding=48)
    assert row == Row("embed.weight", 1, (10, 4), "vocab_rows", (8, 4), "-", "BF16", totals)


def test_a_glob_of_full_names() -> None:
    assert [row.tensor for row in rows(example(2), {"tp": 0}, "layers.1.o.*")] == [
        "layers.*.o.weight",
        "layers.*.o.bias",
    ]
    assert rows(example(1, 2), {"ep": 0}, "layers.*.experts.3.*") == []


LAYERS = spec("""\
config: {widths: widths}
groups:
  all:
    at: layers.{layer}
    for: {layer: 4}
    axes: {own_heads: {size: "widths[layer]"}}
    tensors: {q.weight: {shape: [own_heads * 8, 4], shard: channel_rows, dtype: [BF16, F32]}}
""")


def test_layers_of_one_size_are_joined_and_others_are_not() -> None:
    table = rows(plan(LAYERS, {"widths": [4, 6, 4, 4]}, {"tp": 2}), {"tp": 0})
    assert [(row.tensor, row.count, row.full_shape, row.local_shape, row.units, row.totals.local) for row in table] == [
        ("layers.*.q.weight", 3, (32, 4), (16, 4), "2 x 8", 3 * 128),
        ("layers.*.q.weight", 1, (48, 4), (24, 4), "3 x 8", 192),
    ]


def test_dtypes_are_told_apart() -> None:
    headers = {f"layers.{i}.q.weight": ("F32" if i == 1 else "BF16", (32, 4)) for i in range(4)}
    table = rows(plan(LAYERS, {"widths": [4] * 4}, {"tp": 2}, headers), {"tp": 0})
    assert [(row.count, row.dtype) for row in table] == [(3, "BF16"), (1, "F32")]


def test_units_of_an_uneven_share_and_of_padding() -> None:
    text = spec("""\
    axes: {heads: {size: 5, if_uneven: ceil}}
    groups: {all: {tensors: {q.weight: {shape: [heads * 8, 4], shard: channel_rows}}}}
    """)
    one = plan(text, {}, {"tp": 2})
    assert [rows(one, {"tp": rank})[0].units for rank in (0, 1)] == ["3 x 8", "3 x 8"]
    assert [rows(one, {"tp": rank})[0].totals.padding for rank in (0, 1)] == [0, 64]


def test_what_a_stage_does_not_have_is_no_row() -> None:
    one = plan(pipeline(), PIPELINE_CONFIG, {"tp": 1, "attn_tp": 1, "ep": 1, "pp": 3})
    assert [row.tensor for row in rows(one, {"pp": 1})] == [
        "layers.*.o.weight",
        "layers.*.experts.*.up.weight",
        "layers.*.experts.down",
    ]
