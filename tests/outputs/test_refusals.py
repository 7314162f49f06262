"""What can't be built, the compiler and the loader refuse in the same words, and the loader allocates nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from shardc.rules import outputs
from shardc.rules.meshes import mesh_findings
from tests.seeds.model import Model, numbered, write_checkpoint
from tests.support import bound, compiled

ModelOf = Callable[[str], Model]
BF16, F32 = torch.bfloat16, torch.float32

PAIR = """\
axes: {heads: {size: 4}}
groups:
  pair:
    at: layers.{layer}
    for: {layer: 2}
    tensors:
      a.weight: {shape: [heads, 2], shard: head_rows, optional: true}
      b.weight: {shape: [heads, 2], shard: head_rows, optional: true}
      c.weight: {shape: [heads, 2], shard: head_rows, optional: true}
      d.weight: {shape: [heads, 2], shard: head_rows, optional: true}
      e.weight: {shape: [heads, 2], shard: head_rows, optional: true}
    outputs:
      all.weight: {concat: [e.weight, a.weight, b.weight, c.weight, d.weight]}
"""
STACK = """\
axes: {experts: {size: 2, over: ep}}
groups:
  experts:
    at: experts.{expert}
    for: {expert: experts}
    tensors:
      a: {shape: [2], shard: expert_slices, optional: true}
    outputs:
      w: {concat: [a], stack: expert}
"""
FORMATS = """\
axes: {heads: {size: 4}}
groups:
  pair:
    tensors:
      a.weight: {shape: [heads * 128, 32], shard: channel_rows, formats: [dense, fp8_block, nvfp4]}
      b.weight: {shape: [heads * 128, 32], shard: channel_rows, formats: [dense, fp8_block, nvfp4]}
    outputs:
      ab.weight: {concat: [a.weight, b.weight]}
"""
SHARED = """\
axes:
  kv_heads: {size: 4, if_fewer: replicate, granule: 2}
  heads: {size: 8, within: kv_heads}
groups:
  attention:
    tensors:
      q: {shape: [heads, 1], shard: head_rows}
      k: {shape: [kv_heads, 1], shard: head_rows}
    outputs:
      qk: {interleave: [q, k], by: kv_heads}
"""
UNFIT = """\
axes: {heads: {size: 4}}
groups:
  pair:
    tensors:
      a: {shape: [heads, 2], shard: head_rows}
      b: {shape: [heads, 3], shard: head_rows}
    outputs:
      ab: {concat: [a, b]}
"""
#: Equal columns in the file, but only one of them is split.
SPLIT = """\
axes: {inter: {size: 4}}
groups:
  pair:
    tensors:
      a: {shape: [2, inter], shard: row_parallel}
      b: {shape: [2, 4], shard: replicated}
    outputs:
      ab: {concat: [a, b]}
"""
TIED = """\
groups:
  pair:
    tensors:
      a: {shape: [2], shard: replicated}
      b: {shape: [2], shard: replicated}
      head: {shape: [2], shard: replicated, tied_to: a}
    outputs:
      ab: {concat: [a, b]}
"""
COLLIDING = """\
groups:
  pair:
    tensors:
      a.weight: {shape: [128, 32], shard: replicated, formats: [fp8_block]}
      b.weight: {shape: [128, 32], shard: replicated, formats: [fp8_block]}
      ab.weight_scale_inv: {shape: [2], shard: replicated}
    outputs:
      ab.weight: {concat: [a.weight, b.weight]}
"""


def layer(number: int, **dtypes: torch.dtype) -> dict[str, torch.Tensor]:
    return {f"layers.{number}.{name}.weight": numbered((4, 2), dtype) for name, dtype in dtypes.items()}


def block(name: str, scale: torch.dtype = F32) -> dict[str, torch.Tensor]:
    return {
        f"{name}.weight": numbered((512, 32), torch.float8_e4m3fn),
        f"{name}.weight_scale_inv": numbered((4, 1), scale),
    }


def packed(name: str, *, input_scale: bool) -> dict[str, torch.Tensor]:
    full = {
        f"{name}.weight": numbered((512, 16), torch.uint8),
        f"{name}.weight_scale": numbered((512, 2), torch.float8_e4m3fn),
        f"{name}.weight_scale_2": torch.tensor(1.0),
    }
    return full | ({f"{name}.input_scale": torch.tensor(1.0)} if input_scale else {})


ALL = {"a": F32, "b": F32, "c": F32, "d": F32}
CASES: list[tuple[str, str, dict[str, torch.Tensor], dict[str, int], tuple[str, str]]] = [
    (
        "some members are absent",
        PAIR,
        layer(0, e=F32, **ALL) | layer(1, a=F32, c=F32),
        {"tp": 2},
        ("SHD401", "layers.1.all.weight would be built of layers.1.a.weight, layers.1.c.weight without layers.1.e.weight, layers.1.b.weight, layers.1.d.weight"),
    ),
    (
        "more than three in one dtype",
        PAIR,
        layer(0, e=BF16, **ALL) | layer(1, e=F32, **ALL),
        {"tp": 2},
        ("SHD420", "layers.0.all.weight would be of several dtypes: layers.0.e.weight in BF16 (dense); "
         "layers.0.a.weight, layers.0.b.weight, layers.0.c.weight and 1 more in F32 (dense)"),
    ),
    (
        "an expert is absent",
        STACK,
        {"experts.1.a": numbered((2,))},
        {"tp": 1, "ep": 2},
        ("SHD401", "experts.w would be built of experts.1.a without experts.0.a"),
    ),
    (
        "the expert of another rank is of another dtype",
        STACK,
        {"experts.0.a": numbered((2,)), "experts.1.a": numbered((2,), BF16)},
        {"tp": 1, "ep": 2},
        ("SHD420", "experts.w would be of several dtypes: experts.0.a in F32 (dense); experts.1.a in BF16 (dense)"),
    ),
    (
        "two formats",
        FORMATS,
        block("a") | {"b.weight": numbered((512, 32), BF16)},
        {"tp": 2},
        ("SHD420", "ab.weight would be of several dtypes: a.weight in F8_E4M3 (fp8_block); b.weight in BF16 (dense)"),
    ),
    (
        "two dtypes of scales",
        FORMATS,
        block("a") | block("b", BF16),
        {"tp": 2},
        ("SHD420", "ab.weight_scale_inv would be of several dtypes: a.weight_scale_inv in F32; b.weight_scale_inv in BF16"),
    ),
    (
        "a companion that one of them lacks",
        FORMATS,
        packed("a", input_scale=False) | packed("b", input_scale=True),
        {"tp": 2},
        ("SHD401", "ab.input_scale would be built of b.input_scale without a.input_scale"),
    ),
    (
        "elements of which a rank has a part",
        SHARED,
        {"q": numbered((8, 1)), "k": numbered((4, 1))},
        {"tp": 4},
        ("SHD230", "qk: a rank with kv_heads 0..2 has only heads 0..2 of them"),
    ),
    (
        "columns that differ",
        UNFIT,
        {"a": numbered((4, 2)), "b": numbered((4, 3))},
        {"tp": 2},
        ("SHD230", "ab: a [heads, 2] and b [heads, 3] do not fit together along dim 0"),
    ),
    (
        "columns that are split in one of them",
        SPLIT,
        {"a": numbered((2, 4)), "b": numbered((2, 4))},
        {"tp": 2},
        ("SHD230", "ab: a [2, inter] and b [2, 4] do not fit together along dim 0"),
    ),
    (
        "the twin of a tied tensor",
        TIED,
        {"a": numbered((2,)), "b": numbered((2,))},
        {"tp": 2},
        ("SHD105", "head is tied to a, which goes into ab"),
    ),
    (
        "the name of a tensor beside it",
        COLLIDING,
        {
            **{name: tensor[:128] if "scale" not in name else tensor[:1] for name, tensor in (block("a") | block("b")).items()},
            "ab.weight_scale_inv": numbered((2,)),
        },
        {"tp": 2},
        ("SHD105", "ab.weight_scale_inv is the name of an output and of a tensor beside it"),
    ),
]  # fmt: skip

#: Where the compiler shows the author's formulas, the loader has the rank's numbers.
AT_LOAD = {
    "ab: a [heads, 2] and b [heads, 3] do not fit together along dim 0": "ab: a [2, 2] and b [2, 3] do not fit together along dim 0",
    "ab: a [2, inter] and b [2, 4] do not fit together along dim 0": "ab: a [2, 2] and b [2, 4] do not fit together along dim 0",
}


@pytest.mark.parametrize(
    ("body", "full", "mesh", "said"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_said_by_both(
    model_of: ModelOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    body: str, full: Mapping[str, torch.Tensor], mesh: dict[str, int], said: tuple[str, str],
) -> None:  # fmt: skip
    model = model_of(body)
    assert found(model, full, mesh) == [said]
    directory = write_checkpoint(tmp_path / "checkpoint", {}, full)
    monkeypatch.setattr(torch, "empty", None)
    with pytest.raises(model.module.rt.ShardError) as refused:
        model.module.load(directory, mesh={dim: (0, size) for dim, size in mesh.items()})
    assert refused.value.findings == ((said[0], AT_LOAD.get(said[1], said[1])),)


def found(model: Model, full: Mapping[str, torch.Tensor], mesh: Mapping[str, int]) -> list[tuple[str, str]]:
    """What `shardc check` says of outputs."""
    config: dict[str, Any] = {}
    headers = {name: (model.module.rt.FILE_DTYPES[tensor.dtype], tuple(tensor.shape)) for name, tensor in full.items()}
    made = bound(model.text, config, headers)
    result = compiled(model.text, config, mesh, headers)
    findings = [*outputs.check(made), *mesh_findings(made, [(mesh, result)])]
    return [(finding.code, finding.message) for finding in findings]
