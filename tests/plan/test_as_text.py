"""The table of a plan, word for word."""

from __future__ import annotations

import pytest

from shardc.plan.as_text import as_markdown, as_text, shape, size, table
from tests.plan.support import model, spec
from tests.support import compiled


def test_a_table() -> None:
    assert (
        as_text(model(2, 2), {"tp": 1, "ep": 0})
        == """\
tensor                                layers  full shape  shard           per rank  units/rank  rank total
------------------------------------  ------  ----------  --------------  --------  ----------  ----------
embed.weight                                  10 x 4      vocab_rows      8 x 4     -                 64 B
layers.*.norm.weight                  x2      4           replicated      4         -                 16 B
layers.*.qk.weight                    x2      24 x 4      segmented_rows  12 x 4    2 x 4            192 B
layers.*.o.weight                     x2      4 x 16      channel_cols    4 x 8     2 x 4            128 B
layers.*.o.bias                       x2      4           rank0           4         -                 16 B
layers.*.experts.*.up.weight          x4      4 x 16      expert_slices   4 x 16    -                256 B
layers.*.experts.*.up.weight_scale    x4      4 x 2       expert_slices   4 x 2     -                 32 B
layers.*.experts.*.up.weight_scale_2  x4      scalar      replicated      scalar    -                 16 B

33 tensors   full 1376 B   per rank 720 B   replicated 656 B (91.11% of a rank)   padding 64 B
mesh tp=2, ep=2; shown: tp rank 1, ep rank 0
masked_all_reduce over tp: embed.weight
all_reduce over tp: layers.{layer}.o.weight
contract vocab_64: rows % 64 == 0 holds, rows = 128"""
    )


def test_one_rank_has_nothing_to_tell_the_others() -> None:
    assert as_text(model(1), {}).splitlines()[-4:] == [
        "33 tensors   full 1376 B   per rank 1360 B   replicated 0.0 MiB (0.00% of a rank)",
        "mesh tp=1, ep=1; shown: tp rank 0, ep rank 0",
        "no collectives",
        "contract vocab_64: rows % 64 == 0 holds, rows = 256",
    ]


def test_markdown() -> None:
    """Below the table two spaces end each line: Markdown breaks it there."""
    assert as_markdown(model(2), {"tp": 1}, "*.0.o.*").splitlines() == [
        "| tensor | layers | full shape | shard | per rank | units/rank | rank total |",
        "|---|---|---|---|---|---|--:|",
        "| `layers.*.o.weight` | x2 | 4 x 16 | channel_cols | 4 x 8 | 2 x 4 | 128 B |",
        "| `layers.*.o.bias` | x2 | 4 | rank0 | 4 | - | 16 B |",
        "",
        "33 tensors   full 1376 B   per rank 1024 B   replicated 624 B (60.94% of a rank)   padding 64 B  ",
        "mesh tp=2, ep=1; shown: tp rank 1, ep rank 0  ",
        "masked_all_reduce over tp: embed.weight  ",
        "all_reduce over tp: layers.{layer}.o.weight  ",
        "contract vocab_64: rows % 64 == 0 holds, rows = 128  ",
    ]


def test_ranks_that_hold_different_amounts() -> None:
    text = spec("""\
    axes: {heads: {size: 3, if_uneven: spread}}
    groups: {all: {tensors: {q.weight: {shape: [heads * 8, 4], shard: channel_rows}}}}
    """)
    lines = as_text(compiled(text, {}, {"tp": 2}), {"tp": 1}).splitlines()
    assert lines[-3:] == ["mesh tp=2; shown: tp rank 1", "ranks differ: 64 B to 128 B", "no collectives"]


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0.0 MiB"),
        (1, "1 B"),
        (52428, "52428 B"),
        (52429, "0.1 MiB"),
        (2**20, "1.0 MiB"),
        (2**30 - 1, "1024.0 MiB"),
        (2**30, "1.00 GiB"),
        (15 * 2**27, "1.88 GiB"),
    ],
)
def test_bytes_for_people(count: int, text: str) -> None:
    assert size(count) == text


def test_shapes_for_people() -> None:
    assert (shape((128, 1, 4)), shape((7,)), shape(())) == ("128 x 1 x 4", "7", "scalar")


def test_columns() -> None:
    assert table([["a", "size", "b"], ["long", "7", ""]], right={1}) == ["a     size  b", "----  ----  -", "long     7"]


def test_a_column_that_grows_in_steps_changes_spaces_alone() -> None:
    narrow, wide = (table([("a", "b"), ("x", "1"), ("y", cell)], right={1}, step=4) for cell in ("22", "22222"))
    assert [line.split() for line in narrow[:3]] == [line.split() for line in wide[:3]]


def test_widths_in_steps_leave_a_table_as_it_is() -> None:
    """A cell that grows within its step moves no other line."""
    short = table([("a", "b"), ("x", "1"), ("y", "22")], right={1}, step=4)
    assert short == ["a        b", "-        -", "x        1", "y       22"]
    assert table([("a", "b"), ("x", "1"), ("yyy", "4444")], right={1}, step=4)[:3] == short[:3]
