"""Tensors put one after the other: attention with shared kv heads, gate and up in either order, q | k | v beside z."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tests.outputs.built import built
from tests.seeds.model import Model, numbered

ModelOf = Callable[[str], Model]

ATTENTION = """\
config: {num_heads: heads, num_kv_heads: kv_heads, head_dim: head_dim, hidden: hidden}
axes:
  kv_heads: {size: num_kv_heads, if_fewer: replicate}
  heads: {size: num_heads, within: kv_heads}
groups:
  attention:
    at: attn
    tensors:
      q.weight: {shape: [heads * head_dim, hidden], shard: channel_rows}
      k.weight: {shape: [kv_heads * head_dim, hidden], shard: channel_rows}
      v.weight: {shape: [kv_heads * head_dim, hidden], shard: channel_rows}
      q.bias: {shape: [heads * head_dim], shard: channel_rows, optional: true}
      k.bias: {shape: [kv_heads * head_dim], shard: channel_rows, optional: true}
      v.bias: {shape: [kv_heads * head_dim], shard: channel_rows, optional: true}
      o.weight: {shape: [hidden, heads * head_dim], shard: channel_cols}
    outputs:
      qkv.weight: {concat: [q.weight, k.weight, v.weight]}
      qkv.bias: {concat: [q.bias, k.bias, v.bias]}
"""
ATTENTION_CONFIG = {"heads": 4, "kv_heads": 2, "head_dim": 2, "hidden": 1}
QKV = {
    "attn.q.weight": torch.arange(8.0).reshape(8, 1),
    "attn.k.weight": torch.arange(10.0, 14.0).reshape(4, 1),
    "attn.v.weight": torch.arange(20.0, 24.0).reshape(4, 1),
    "attn.o.weight": torch.arange(8.0).reshape(1, 8),
}
BIASES = {"attn.q.bias": torch.arange(8.0), "attn.k.bias": torch.arange(4.0), "attn.v.bias": torch.arange(4.0)}


@pytest.mark.parametrize(
    ("tp", "rows"),
    [
        ((0, 1), [0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 20, 21, 22, 23]),
        ((1, 2), [4, 5, 6, 7, 12, 13, 22, 23]),
        # Two ranks share a kv head: its k and v on both, each with a query head of its own.
        ((2, 4), [4, 5, 12, 13, 22, 23]),
        ((3, 4), [6, 7, 12, 13, 22, 23]),
    ],
)
def test_qkv(model_of: ModelOf, tmp_path: Path, tp: tuple[int, int], rows: list[int]) -> None:
    out = built(model_of(ATTENTION), ATTENTION_CONFIG, QKV, {"tp": tp}, tmp_path / "checkpoint")
    assert {name: tensor.flatten().tolist() for name, tensor in out.items()} == {"attn.qkv.weight": rows}


def test_biases_that_are_there(model_of: ModelOf, tmp_path: Path) -> None:
    out = built(model_of(ATTENTION), ATTENTION_CONFIG, QKV | BIASES, {"tp": (1, 2)}, tmp_path / "checkpoint")
    assert out["attn.qkv.bias"].tolist() == [4, 5, 6, 7, 2, 3, 2, 3]


MLP = """\
config: {inter_size: inter, hidden: hidden}
axes: {inter: {size: inter_size, UNEVEN}}
groups:
  mlp:
    at: mlp.{layer}
    for: {layer: 2}
    tensors:
      gate.weight: {shape: [inter, hidden], shard: column_parallel}
      up.weight: {shape: [inter, hidden], shard: column_parallel}
    outputs:
      gate_up.weight: {concat: [FIRST, SECOND]}
"""


def mlp(first: str = "gate.weight", second: str = "up.weight", uneven: str = "if_uneven: error") -> str:
    return MLP.replace("FIRST", first).replace("SECOND", second).replace("UNEVEN", uneven)


def gate_and_up(rows: int) -> dict[str, torch.Tensor]:
    """Two layers; the second's rows are 100 higher, and up's 50."""
    return {
        f"mlp.{layer}.{name}.weight": torch.arange(float(rows)).reshape(rows, 1) + 100 * layer + 50 * (name == "up")
        for layer in range(2)
        for name in ("gate", "up")
    }


def test_gate_before_up(model_of: ModelOf, tmp_path: Path) -> None:
    out = built(model_of(mlp()), {"inter": 6, "hidden": 1}, gate_and_up(6), {"tp": (1, 3)}, tmp_path / "checkpoint")
    assert {name: tensor.flatten().tolist() for name, tensor in out.items()} == {
        "mlp.0.gate_up.weight": [2, 3, 52, 53],
        "mlp.1.gate_up.weight": [102, 103, 152, 153],
    }


def test_up_before_gate(model_of: ModelOf, tmp_path: Path) -> None:
    model = model_of(mlp("up.weight", "gate.weight"))
    out = built(model, {"inter": 6, "hidden": 1}, gate_and_up(6), {"tp": (1, 3)}, tmp_path / "checkpoint")
    assert out["mlp.1.gate_up.weight"].flatten().tolist() == [152, 153, 102, 103]


@pytest.mark.parametrize(
    ("uneven", "tp", "rows"),
    [
        ("if_uneven: spread", (0, 2), [0, 1, 2, 50, 51, 52]),
        ("if_uneven: spread", (1, 2), [3, 4, 53, 54]),
        # Padding stays in the part of each member.
        ("if_uneven: ceil", (1, 2), [3, 4, 0, 53, 54, 0]),
        ("if_uneven: ceil", (3, 4), [0, 0, 0, 0]),
        ("pad_to: 8", (1, 2), [4, 0, 0, 0, 54, 0, 0, 0]),
        ("if_uneven: spread, pad_local_to: 4", (0, 2), [0, 1, 2, 0, 50, 51, 52, 0]),
    ],
)
def test_padding(model_of: ModelOf, tmp_path: Path, uneven: str, tp: tuple[int, int], rows: list[int]) -> None:
    model = model_of(mlp(uneven=uneven))
    out = built(model, {"inter": 5, "hidden": 1}, gate_and_up(5), {"tp": tp}, tmp_path / "checkpoint")
    assert out["mlp.0.gate_up.weight"].flatten().tolist() == rows


def test_qkvz(model_of: ModelOf, tmp_path: Path) -> None:
    """Three segments of one tensor, and then another: each is cut by itself."""
    model = model_of("""\
    config: {n_k: k_heads, n_v: v_heads}
    axes:
      k_heads: {size: n_k}
      v_heads: {size: n_v, within: k_heads}
    groups:
      gdn:
        at: gdn
        tensors:
          in_proj_qkv.weight: {shape: [k_heads * 2 | k_heads * 2 | v_heads * 2, 1], shard: segmented_rows}
          in_proj_z.weight: {shape: [v_heads * 2, 1], shard: channel_rows}
        outputs:
          in_proj_qkvz.weight: {concat: [in_proj_qkv.weight, in_proj_z.weight]}
    """)
    full = {"gdn.in_proj_qkv.weight": numbered((16, 1)), "gdn.in_proj_z.weight": numbered((8, 1)) + 100}
    out = built(model, {"k_heads": 2, "v_heads": 4}, full, {"tp": (1, 2)}, tmp_path / "checkpoint")
    rows = [2, 3, 6, 7, 12, 13, 14, 15, 104, 105, 106, 107]
    assert out["gdn.in_proj_qkvz.weight"].flatten().tolist() == rows


def test_a_cast(model_of: ModelOf, tmp_path: Path) -> None:
    """Members may differ in the file where they load as one dtype."""
    model = model_of("""\
    axes: {inter: {size: 4}}
    groups:
      mlp:
        tensors:
          a: {shape: [inter, 1], shard: column_parallel, dtype: {file: [BF16, F32], load: F32}}
          b: {shape: [inter, 1], shard: column_parallel, dtype: F32}
        outputs:
          ab: {concat: [a, b]}
    """)
    full = {"a": numbered((4, 1), torch.bfloat16), "b": numbered((4, 1)) + 10}
    out = built(model, {}, full, {"tp": (1, 2)}, tmp_path / "checkpoint")
    assert (out["ab"].dtype, out["ab"].flatten().tolist()) == (torch.float32, [2, 3, 12, 13])


def test_a_file_that_stores_inputs_first(model_of: ModelOf, tmp_path: Path) -> None:
    """With `dims: [in, out]` the output dim is the last: columns stand beside columns."""
    model = model_of("""\
    axes: {inter: {size: 4}}
    groups:
      mlp:
        tensors:
          a: {shape: [2, inter], shard: column_parallel, dims: [in, out]}
          b: {shape: [2, inter], shard: column_parallel, dims: [in, out]}
        outputs:
          ab: {concat: [a, b]}
    """)
    full = {"a": numbered((2, 4)), "b": numbered((2, 4)) + 10}
    out = built(model, {}, full, {"tp": (1, 2)}, tmp_path / "checkpoint")
    assert out["ab"].tolist() == [[2, 3, 12, 13], [6, 7, 16, 17]]


def test_members_that_are_cut_by_columns(model_of: ModelOf, tmp_path: Path) -> None:
    model = model_of("""\
    axes: {inter: {size: 3, pad_to: 4}}
    groups:
      mlp:
        tensors:
          a: {shape: [2, inter], shard: row_parallel}
          b: {shape: [1, inter], shard: row_parallel}
        outputs:
          ab: {concat: [a, b]}
    """)
    full = {"a": numbered((2, 3)), "b": numbered((1, 3)) + 10}
    out = built(model, {}, full, {"tp": (1, 2)}, tmp_path / "checkpoint")
    assert out["ab"].tolist() == [[2, 0], [5, 0], [12, 0]]


def test_scalars(model_of: ModelOf, tmp_path: Path) -> None:
    """One value a member, in their order."""
    model = model_of("""\
    axes: {heads: {size: 2}}
    groups:
      scales:
        tensors:
          q.scale: {shape: [], shard: replicated}
          k.scale: {shape: [], shard: replicated}
          w: {shape: [heads], shard: head_rows}
        outputs:
          qk.scale: {concat: [q.scale, k.scale]}
    """)
    full = {"q.scale": torch.tensor(2.0), "k.scale": torch.tensor(3.0), "w": torch.ones(2)}
    out = built(model, {}, full, {"tp": (1, 2)}, tmp_path / "checkpoint")
    assert out["qk.scale"].tolist() == [2, 3]
