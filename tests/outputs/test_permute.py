"""Rows that change places in each head of a rank."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.outputs.built import built
from tests.seeds.model import Model, numbered

ModelOf = Callable[[str], Model]

SPEC = """\
config: {num_heads: heads, num_kv_heads: kv_heads, head_dim: head_dim, nope: nope}
axes:
  kv_heads: {size: num_kv_heads, OPTION}
  heads: {size: num_heads, within: kv_heads}
let: {half: head_dim / 2}
groups:
  attention:
    tensors:
      w: {shape: ["SHAPE", 1], shard: KIND}
    outputs:
      w: {permute: w, from: "FROM", to: "TO"}
"""
CONFIG = {"heads": 4, "kv_heads": 2, "head_dim": 4, "nope": 2}


def spec(shape: str, kind: str, origin: str, to: str, option: str = "if_uneven: error") -> str:
    text = SPEC.replace("SHAPE", shape).replace("KIND", kind)
    return text.replace("FROM", origin).replace("TO", to).replace("OPTION", option)


@pytest.mark.parametrize(
    ("tp", "rows"),
    [
        ((0, 1), [0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15]),
        ((0, 2), [0, 2, 1, 3, 4, 6, 5, 7]),
        ((1, 2), [8, 10, 9, 11, 12, 14, 13, 15]),
    ],
)
def test_halves_to_pairs(model_of: ModelOf, tmp_path: Path, tp: tuple[int, int], rows: list[int]) -> None:
    model = model_of(spec("heads * head_dim", "channel_rows", "heads * 2 * half", "heads * half * 2"))
    out = built(model, CONFIG, {"w": numbered((16, 1))}, {"tp": tp}, tmp_path / "checkpoint")
    assert out["w"].flatten().tolist() == rows


@pytest.mark.parametrize(
    ("shape", "kind", "origin", "to", "rows"),
    [
        # Pairs to halves, of six rows a head.
        ("kv_heads * 6", "channel_rows", "kv_heads * 3 * 2", "kv_heads * 2 * 3", [6, 8, 10, 7, 9, 11]),
        # Rotary rows behind others, which stay.
        ("kv_heads * (nope + head_dim)", "channel_rows", "kv_heads * (nope | 2 * half)", "kv_heads * (nope | half * 2)",
         [6, 7, 8, 10, 9, 11]),
        # Rotary rows before others.
        ("kv_heads * (nope + head_dim)", "channel_rows", "kv_heads * (nope | 2 * half)", "kv_heads * (half * 2 | nope)",
         [8, 10, 9, 11, 6, 7]),
        # Segments inside a factor: a, b, a, b to a, a, b, b.
        ("kv_heads * 2 * 3", "channel_rows", "kv_heads * 2 * (1 | nope)", "kv_heads * (2 * 1 | 2 * nope)",
         [6, 9, 7, 8, 10, 11]),
        # Two segments, of which one is as it was.
        ("kv_heads * 4 | kv_heads * 2", "segmented_rows", "kv_heads * 2 * half | kv_heads * 2", "kv_heads * half * 2 | kv_heads * 2",
         [4, 6, 5, 7, 10, 11]),
        # A block of heads, once and again: each is cut inside.
        ("2 * (kv_heads * 4)", "segmented_rows", "2 * kv_heads * (1 * 2) * half", "2 * kv_heads * half * (1 * 2)",
         [4, 6, 5, 7, 12, 14, 13, 15]),
        # No axis: the whole dim is one granule.
        ("6", "replicated", "3 * 2", "2 * 3", [0, 2, 4, 1, 3, 5]),
    ],
)  # fmt: skip
def test_other_layouts(
    model_of: ModelOf, tmp_path: Path, shape: str, kind: str, origin: str, to: str, rows: list[int]
) -> None:
    model = model_of(spec(shape, kind, origin, to))
    size = {"6": 6, "2 * (kv_heads * 4)": 16}.get(shape, 12)
    out = built(model, CONFIG, {"w": numbered((size, 1))}, {"tp": (1, 2)}, tmp_path / "checkpoint")
    assert out["w"].flatten().tolist() == rows


def test_padding_stays_behind(model_of: ModelOf, tmp_path: Path) -> None:
    model = model_of(
        spec("kv_heads * 4", "channel_rows", "kv_heads * 2 * half", "kv_heads * half * 2", "pad_local_to: 3")
    )
    out = built(model, CONFIG, {"w": numbered((8, 1))}, {"tp": (1, 2)}, tmp_path / "checkpoint")
    assert out["w"].flatten().tolist() == [4, 6, 5, 7, 0, 0, 0, 0, 0, 0, 0, 0]


def test_heads_of_one_kv_head(model_of: ModelOf, tmp_path: Path) -> None:
    """Query heads stored behind each kv head; two ranks share it, each with one query head."""
    group = "kv_heads * heads per kv_heads"
    model = model_of(
        spec(f"{group} * 4", "channel_rows", f"{group} * 2 * half", f"{group} * half * 2", "if_fewer: replicate")
    )
    out = built(model, CONFIG, {"w": numbered((16, 1))}, {"tp": (1, 4)}, tmp_path / "checkpoint")
    assert out["w"].flatten().tolist() == [4, 6, 5, 7]


def test_permuted_members_of_one_output(model_of: ModelOf, tmp_path: Path) -> None:
    model = model_of("""\
    axes: {heads: {size: 4}}
    groups:
      attention:
        tensors:
          q: {shape: [heads * 4, 1], shard: channel_rows}
          k: {shape: [heads * 4, 1], shard: channel_rows}
          v: {shape: [heads * 4, 1], shard: channel_rows}
        outputs:
          qkv:
            concat:
              - {permute: q, from: heads * 2 * (4 / 2), to: heads * (4 / 2) * 2}
              - {permute: k, from: heads * 2 * (4 / 2), to: heads * (4 / 2) * 2}
              - v
    """)
    full = {name: numbered((16, 1)) + 20 * i for i, name in enumerate("qkv")}
    out = built(model, {}, full, {"tp": (3, 4)}, tmp_path / "checkpoint")
    assert out["qkv"].flatten().tolist() == [12, 14, 13, 15, 32, 34, 33, 35, 52, 53, 54, 55]
