"""Single tensors in full, word for word."""

from __future__ import annotations

import pytest

from shardc.plan.blocks import blocks
from tests.plan.support import model, spec
from tests.support import compiled


@pytest.mark.parametrize(
    ("tensor", "block"),
    [
        ("embed.weight", """\
embed.weight
  shape    [vocab, hidden] = [10, 4]
  file     BF16 [10, 4], 80 bytes
  rank     tp 1, ep 0: vocab_rows
  local    BF16 [8, 4], 64 bytes
  dim 0    8..10 of 10
  dim 1    0..4 of 4
  zeros    [[2, 8], [0, 4]]
  bytes    64..80 of the tensor"""),
        ("layers.1.qk.weight", """\
layers.1.qk.weight
  shape    [q | k, hidden] = [4 * 4 | 2 * 4, 4]
  file     BF16 [24, 4], 192 bytes
  rank     tp 1, ep 0: segmented_rows
  local    BF16 [12, 4], 96 bytes
  dim 0    8..16, 20..24 of 24
  dim 1    0..4 of 4
  contract vocab_64: rows % 64 == 0"""),
        ("layers.1.o.weight", """\
layers.1.o.weight
  shape    [hidden, q] = [4, 4 * 4]
  file     BF16 [4, 16], 128 bytes
  rank     tp 1, ep 0: channel_cols
  local    BF16 [4, 8], 64 bytes
  dim 0    0..4 of 4
  dim 1    8..16 of 16
  contract vocab_64: rows % 64 == 0"""),
        ("layers.1.experts.2.up.weight_scale", """\
layers.1.experts.2.up.weight_scale
  shape    [hidden, 32] = [4, 32]
  file     F8_E4M3 [4, 2], 8 bytes
  rank     tp 1, ep 0: expert_slices
  local    F8_E4M3 [4, 2], 8 bytes
  dim 0    0..4 of 4
  dim 1    0..2 of 2
  bytes    0..8 of the tensor"""),
    ],
)  # fmt: skip
def test_a_block(tensor: str, block: str) -> None:
    assert blocks(model(2), {"tp": 1}, tensor) == block


def test_a_rank_that_keeps_nothing_but_zeros() -> None:
    lines = blocks(model(2), {"tp": 1}, "layers.0.o.bias").splitlines()
    assert lines[4:7] == ["  local    BF16 [4], 8 bytes", "  dim 0    nothing of 4", "  zeros    [[0, 4]]"]


def test_a_glob_has_a_block_for_each() -> None:
    text = blocks(model(1, 2), {"ep": 1}, "layers.?.experts.3.up.weight")
    assert [block.splitlines()[0] for block in text.split("\n\n")] == [
        "layers.0.experts.3.up.weight",
        "layers.1.experts.3.up.weight",
    ]


def test_no_match_on_this_rank() -> None:
    assert blocks(model(1, 2), {"ep": 0}, "*.experts.3.*") == "no tensor on this rank matches *.experts.3.*"


def test_at_most_fifty() -> None:
    text = spec("""\
    config: {layers: layers}
    groups: {all: {at: "{layer}", for: {layer: layers}, tensors: {norm: {shape: [4], shard: replicated}}}}
    """)
    shown = blocks(compiled(text, {"layers": 52}, {"tp": 1}), {}, "*").split("\n\n")
    assert len(shown) == 51
    assert shown[-1] == "… and 2 more"
    assert blocks(compiled(text, {"layers": 50}, {"tp": 1}), {}, "*").split("\n\n")[-1].startswith("49.norm\n")


def test_a_formula_of_a_list_keeps_what_is_no_number() -> None:
    text = spec("""\
    config: {widths: widths}
    groups:
      all: {at: "{layer}", for: {layer: 2}, tensors: {norm: {shape: ["widths[layer] * 2"], shard: replicated}}}
    """)
    lines = blocks(compiled(text, {"widths": [3, 5]}, {"tp": 1}), {}, "1.norm").splitlines()
    assert lines[1:3] == ["  shape    [widths[layer] * 2] = [widths[1] * 2]", "  file     BF16 [10], 20 bytes"]
