"""Members that are stored quantised: each part is put together the same way, in its own units."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tests.outputs.built import built
from tests.seeds.model import Model, numbered, write_checkpoint
from tests.support import compiled

ModelOf = Callable[[str], Model]
F8 = torch.float8_e4m3fn


def fp8(name: str, rows: int, columns: int, first: int) -> dict[str, torch.Tensor]:
    """A weight, and a scale for each block: first, first + 1, …"""
    blocks = (-(-rows // 128), -(-columns // 128))
    return {f"{name}.weight": numbered((rows, columns), F8), f"{name}.weight_scale_inv": numbered(blocks) + first}


def nvfp4(name: str, rows: int, columns: int, value: float, *, input_scale: bool = True) -> dict[str, torch.Tensor]:
    full = {
        f"{name}.weight": numbered((rows, columns // 2), torch.uint8),
        f"{name}.weight_scale": numbered((rows, columns // 16), F8),
        f"{name}.weight_scale_2": torch.tensor(value),
    }
    return full | ({f"{name}.input_scale": torch.tensor([value + 0.5])} if input_scale else {})


REPLICATED = """\
groups:
  mla:
    tensors:
      q_a.weight: {shape: [ROWS, 128], shard: replicated, formats: [dense, fp8_block]}
      kv_a.weight: {shape: [576, 128], shard: replicated, formats: [dense, fp8_block]}
      last.weight: {shape: [64, 128], shard: replicated, formats: [dense, fp8_block]}
    outputs:
      qkv_a.weight: {concat: [q_a.weight, kv_a.weight, last.weight]}
"""


def test_scales_begin_at_running_sums_of_ceilings(model_of: ModelOf, tmp_path: Path) -> None:
    """200, 576 and 64 rows are 2, 5 and 1 blocks; of the 840 rows together there would be 7."""
    full = fp8("q_a", 200, 128, 0) | fp8("kv_a", 576, 128, 10) | fp8("last", 64, 128, 20)
    model = model_of(REPLICATED.replace("ROWS", "200"))
    out = built(model, {}, full, {"tp": (1, 2)}, tmp_path / "checkpoint")
    assert (out["qkv_a.weight"].shape, out["qkv_a.weight"].dtype) == ((840, 128), F8)
    assert out["qkv_a.weight_scale_inv"].flatten().tolist() == [0, 1, 10, 11, 12, 13, 14, 20]


MLP = """\
config: {inter_size: inter, n_experts: experts}
axes:
  inter: {size: inter_size, if_uneven: ceil}
  experts: {size: n_experts, over: ep}
groups:
  experts:
    at: experts.{expert}
    for: {expert: experts}
    tensors:
      gate.weight: {shape: [inter, 32], shard: expert_slices + column_parallel, formats: [dense, fp8_block, nvfp4]}
      up.weight: {shape: [inter, 32], shard: expert_slices + column_parallel, formats: [dense, fp8_block, nvfp4]}
      down.weight: {shape: [32, inter], shard: expert_slices + row_parallel, formats: [dense, fp8_block, nvfp4]}
    outputs:
      w13.weight: {concat: [gate.weight, up.weight], stack: expert}
      w2.weight: {concat: [down.weight], stack: expert}
"""


def test_blocks_of_stacked_experts(model_of: ModelOf, tmp_path: Path) -> None:
    """Three blocks over two ranks: the second has one, and zeros for another."""
    full: dict[str, torch.Tensor] = {}
    for expert in range(4):
        for i, name in enumerate(("gate", "up", "down")):
            rows, columns = (32, 384) if name == "down" else (384, 32)
            full |= fp8(f"experts.{expert}.{name}", rows, columns, 100 * expert + 10 * i)
    mesh = {"tp": (1, 2), "ep": (1, 2)}
    out = built(model_of(MLP), {"inter": 384, "experts": 4}, full, mesh, tmp_path / "checkpoint")
    assert out["experts.w13.weight"].shape == (2, 512, 32)
    assert out["experts.w13.weight_scale_inv"].squeeze(-1).tolist() == [[202, 0, 212, 0], [302, 0, 312, 0]]
    assert out["experts.w2.weight_scale_inv"].squeeze(1).tolist() == [[222, 0], [322, 0]]


def test_scalars_become_vectors(model_of: ModelOf, tmp_path: Path) -> None:
    full: dict[str, torch.Tensor] = {}
    for expert in range(4):
        for i, name in enumerate(("gate", "up", "down")):
            rows, columns = (32, 64) if name == "down" else (64, 32)
            full |= nvfp4(f"experts.{expert}.{name}", rows, columns, 100.0 * expert + 10 * i)
    mesh = {"tp": (1, 2), "ep": (1, 2)}
    out = built(model_of(MLP), {"inter": 64, "experts": 4}, full, mesh, tmp_path / "checkpoint")
    assert {name: tuple(tensor.shape) for name, tensor in out.items() if "w13" in name} == {
        "experts.w13.weight": (2, 64, 16),
        "experts.w13.weight_scale": (2, 64, 2),
        "experts.w13.weight_scale_2": (2, 2),
        "experts.w13.input_scale": (2, 2),
    }
    assert out["experts.w13.weight_scale_2"].tolist() == [[200, 210], [300, 310]]
    assert out["experts.w13.input_scale"].tolist() == [[200.5, 210.5], [300.5, 310.5]]
    assert out["experts.w2.weight_scale_2"].tolist() == [220, 320]


ATTENTION = """\
config: {num_heads: heads, head_dim: head_dim}
axes: {heads: {size: num_heads}}
let: {half: head_dim / 2}
groups:
  attention:
    tensors:
      q.weight: {shape: [heads * head_dim, 32], shard: channel_rows, formats: [fp8_block, nvfp4]}
      k.weight: {shape: [heads * head_dim, 32], shard: channel_rows, formats: [fp8_block, nvfp4]}
    outputs:
      qk.weight: OUTPUT
"""


def attention(output: str) -> str:
    return ATTENTION.replace("OUTPUT", output)


PERMUTED = "{permute: q.weight, from: heads * 2 * half, to: heads * half * 2}"
INTERLEAVED = "{interleave: [q.weight, k.weight], by: heads}"


def test_permuted_rows_of_four_bits(model_of: ModelOf, tmp_path: Path) -> None:
    """Units of nvfp4 lie along the inputs: rows may go anywhere, and their scales with them."""
    full = nvfp4("q", 16, 32, 1.0) | nvfp4("k", 16, 32, 2.0)
    out = built(model_of(attention(PERMUTED)), {"heads": 4, "head_dim": 4}, full, {"tp": (1, 2)}, tmp_path / "cp")
    rows = [8, 10, 9, 11, 12, 14, 13, 15]
    assert out["qk.weight"].tolist() == full["q.weight"][rows].tolist()
    assert out["qk.weight_scale"].view(torch.uint8)[:, 0].tolist() == [2 * row for row in rows]
    assert out["qk.weight_scale_2"].shape == ()


@pytest.mark.parametrize(
    ("output", "head_dim", "scales"),
    [
        (INTERLEAVED, 128, [2, 12, 3, 13]),
        (INTERLEAVED, 256, [4, 5, 14, 15, 6, 7, 16, 17]),
        # Whole blocks of a head change places.
        ("{permute: q.weight, from: heads * (half | 1 * half), to: heads * (1 * half | half)}", 256, [5, 4, 7, 6]),
    ],
)
def test_whole_blocks(model_of: ModelOf, tmp_path: Path, output: str, head_dim: int, scales: list[int]) -> None:
    full = fp8("q", 4 * head_dim, 32, 0) | fp8("k", 4 * head_dim, 32, 10)
    config = {"heads": 4, "head_dim": head_dim}
    out = built(model_of(attention(output)), config, full, {"tp": (1, 2)}, tmp_path / "checkpoint")
    assert out["qk.weight_scale_inv"].flatten().tolist() == scales


@pytest.mark.parametrize(
    ("output", "head_dim", "message"),
    [
        (INTERLEAVED, 64, "rows are interleaved 64 at a time, inside a unit of 128"),
        (INTERLEAVED, 192, "rows are interleaved 192 at a time, inside a unit of 128"),
        (PERMUTED, 128, "rows are permuted 1 at a time, inside a unit of 128"),
        (PERMUTED, 64, "rows are permuted 64 at a time, inside a unit of 128"),
    ],
)
def test_parts_of_blocks(model_of: ModelOf, tmp_path: Path, output: str, head_dim: int, message: str) -> None:
    full = fp8("q", 8 * head_dim, 32, 0) | fp8("k", 8 * head_dim, 32, 10)
    model, config = model_of(attention(output)), {"heads": 8, "head_dim": head_dim}
    headers = {name: ("F8_E4M3" if t.dtype == F8 else "F32", tuple(t.shape)) for name, t in full.items()}
    [fault] = compiled(model.text, config, {"tp": 2}, headers).outputs
    assert (fault.name, fault.error.code, fault.error.message) == ("qk.weight_scale_inv", "SHD212", message)
    directory = write_checkpoint(tmp_path / "checkpoint", config, full)
    with pytest.raises(model.module.rt.ShardError) as refused:
        model.module.load(directory, tp_rank=1, tp_size=2)
    assert refused.value.findings == (("SHD212", f"qk.weight_scale_inv: {message}"),)
    assert "q.weight" in model.module.load(directory, tp_rank=1, tp_size=2, fused=False)


def test_one_element_is_not_interleaved(model_of: ModelOf, tmp_path: Path) -> None:
    """The rows of a single head stand in one piece, so that no block is cut; the last one is short."""
    full = fp8("q", 192, 32, 0) | fp8("k", 192, 32, 10)
    config = {"heads": 1, "head_dim": 192}
    out = built(model_of(attention(INTERLEAVED)), config, full, {"tp": (0, 1)}, tmp_path / "checkpoint")
    assert out["qk.weight_scale_inv"].flatten().tolist() == [0, 1, 10, 11]
