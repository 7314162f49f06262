"""For each element of an axis, each member's rows of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.outputs.built import built
from tests.seeds.model import Model, numbered

ModelOf = Callable[[str], Model]

BA = """\
config: {n_k: k_heads, n_v: v_heads}
axes:
  k_heads: {size: n_k, OPTION}
  v_heads: {size: n_v, within: k_heads}
groups:
  gdn:
    tensors:
      b: {shape: [v_heads, 1], shard: head_rows}
      a: {shape: [v_heads * 2, 1], shard: channel_rows}
    outputs:
      ba: {interleave: [b, a], by: BY}
"""


def ba(by: str = "k_heads", option: str = "if_uneven: error") -> str:
    return BA.replace("BY", by).replace("OPTION", option)


@pytest.mark.parametrize(
    ("by", "option", "tp", "rows"),
    [
        # Of each key head its two rows of b, and its four rows of a.
        ("k_heads", "if_uneven: error", (0, 1), [0, 1, 100, 101, 102, 103, 2, 3, 104, 105, 106, 107, 4, 5, 108, 109, 110, 111]),
        ("v_heads", "if_uneven: error", (0, 3), [0, 100, 101, 1, 102, 103]),
        ("k_heads", "if_uneven: spread", (0, 2), [0, 1, 100, 101, 102, 103, 2, 3, 104, 105, 106, 107]),
        # The last rank has one key head and the zeros of another.
        ("k_heads", "if_uneven: ceil", (1, 2), [4, 5, 108, 109, 110, 111, 0, 0, 0, 0, 0, 0]),
        ("k_heads", "if_uneven: ceil", (3, 4), [0, 0, 0, 0, 0, 0]),
        # Two ranks share a key head: each has one of its value heads.
        ("k_heads", "if_fewer: replicate", (3, 6), [3, 106, 107]),
    ],
)  # fmt: skip
def test_ba(model_of: ModelOf, tmp_path: Path, by: str, option: str, tp: tuple[int, int], rows: list[int]) -> None:
    full = {"b": numbered((6, 1)), "a": numbered((12, 1)) + 100}
    out = built(model_of(ba(by, option)), {"k_heads": 3, "v_heads": 6}, full, {"tp": tp}, tmp_path / "checkpoint")
    assert out["ba"].flatten().tolist() == rows


def test_pairs_of_a_long_axis(model_of: ModelOf, tmp_path: Path) -> None:
    """Gate 0, up 0, gate 1, up 1, …"""
    model = model_of("""\
    axes: {inter: {size: 8}}
    groups:
      mlp:
        tensors:
          gate: {shape: [inter, 2], shard: column_parallel}
          up: {shape: [inter, 2], shard: column_parallel}
        outputs:
          gate_up: {interleave: [gate, up], by: inter}
    """)
    full = {"gate": numbered((8, 2)), "up": numbered((8, 2)) + 100}
    out = built(model, {}, full, {"tp": (1, 4)}, tmp_path / "checkpoint")
    assert out["gate_up"].tolist() == [[4, 5], [104, 105], [6, 7], [106, 107]]
