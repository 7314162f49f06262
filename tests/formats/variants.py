"""Each format as files have it, in every form that a config or a header can give it: written down from such files.

Nothing here is read from the library: names, dtypes and shapes are the files' own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

#: (dtype, shape) by the ending of a tensor's name.
Files = Mapping[str, tuple[str, tuple[int, ...]]]


@dataclass(frozen=True)
class Variant:
    """`files` gives the tensors of a weight of `out` x `in`. `stacked`: experts are stored so in one tensor, too."""

    format: str
    files: Callable[[int, int], Files]
    config: Mapping[str, Any] = field(default_factory=dict)
    stacked: bool = False


def _quantised(**fields: Any) -> dict[str, Any]:
    return {"quantization_config": fields}


def _ct(**weights: Any) -> dict[str, Any]:
    return _quantised(config_groups={"group_0": {"weights": weights}})


def _awq(o: int, i: int) -> Files:
    return {".qweight": ("I32", (i, o // 8)), ".qzeros": ("I32", (i // 128, o // 8)), ".scales": ("F16", (i // 128, o))}


def _gptq(o: int, i: int) -> Files:
    return {
        ".qweight": ("I32", (i // 8, o)), ".qzeros": ("I32", (i // 128, o // 8)), ".scales": ("F16", (i // 128, o)),
        ".g_idx": ("I32", (i,)),
    }  # fmt: skip


def _gptq_8_bits_one_group(o: int, i: int) -> Files:
    return {".qweight": ("I32", (i // 4, o)), ".qzeros": ("I32", (1, o // 4)), ".scales": ("BF16", (1, o))}


def _w4a16(o: int, i: int) -> Files:
    return {
        ".weight_packed": ("I32", (o, i // 8)), ".weight_scale": ("BF16", (o, i // 64)), ".weight_shape": ("I64", (2,)),
    }  # fmt: skip


def _mlx(o: int, i: int) -> Files:
    return {".weight": ("U32", (o, i // 8)), ".scales": ("BF16", (o, i // 64)), ".biases": ("BF16", (o, i // 64))}


def _mlx_3_bits(o: int, i: int) -> Files:
    return {".weight": ("U32", (o, i * 3 // 32)), ".scales": ("F16", (o, i // 32)), ".biases": ("F16", (o, i // 32))}


VARIANTS: Mapping[str, Variant] = {
    "awq": Variant("awq", _awq, stacked=True),
    # The config's groups are those of other layers, or of another revision: the headers decide.
    "awq, config wrong": Variant("awq", _awq, _quantised(bits=8, group_size=64)),
    "gptq": Variant("gptq", _gptq, _quantised(bits=4, group_size=128, desc_act=False)),
    "gptq, act-order": Variant("gptq", _gptq, _quantised(bits=4, group_size=128, desc_act=True)),
    "gptq, 8 bits, one group": Variant("gptq", _gptq_8_bits_one_group, _quantised(bits=8, group_size=-1)),
    "w4a16_ct": Variant("w4a16_ct", _w4a16, _ct(num_bits=4, group_size=64)),
    "w4a16_ct, zero points": Variant(
        "w4a16_ct",
        lambda o, i: {**_w4a16(o, i), ".weight_zero_point": ("I32", (o // 8, i // 64))},
        _ct(num_bits=4, group_size=64),
    ),
    "w4a16_ct, act-order": Variant(
        "w4a16_ct",
        lambda o, i: {**_w4a16(o, i), ".weight_shape": ("I32", (2,)), ".weight_g_idx": ("I32", (i,))},
        _ct(num_bits=4, group_size=64),
    ),
    "w4a16_ct, one group": Variant(
        "w4a16_ct",
        lambda o, i: {**_w4a16(o, i), ".weight_scale": ("BF16", (o, 1))},
        _ct(num_bits=4, group_size=None, strategy="channel"),
    ),
    "mlx_affine": Variant("mlx_affine", _mlx, {"quantization": {"bits": 4, "group_size": 64}}, stacked=True),
    "mlx_affine, 3 bits": Variant("mlx_affine", _mlx_3_bits, {"quantization": {"bits": 3, "group_size": 32}}),
    "nvfp4": Variant(
        "nvfp4",
        lambda o, i: {
            ".weight": ("U8", (o, i // 2)), ".weight_scale": ("F8_E4M3", (o, i // 16)), ".weight_scale_2": ("F32", ()),
            ".input_scale": ("F32", ()),
        },
    ),
    "nvfp4_ct": Variant(
        "nvfp4_ct",
        lambda o, i: {
            ".weight_packed": ("U8", (o, i // 2)), ".weight_scale": ("F8_E4M3", (o, i // 16)),
            ".weight_global_scale": ("F32", (1,)), ".input_global_scale": ("F32", (1,)),
        },
    ),
    "fp8_block": Variant(
        "fp8_block",
        lambda o, i: {".weight": ("F8_E4M3", (o, i)), ".weight_scale_inv": ("F32", (o // 128, i // 128))},
        stacked=True,
    ),
    "fp8_block_e8m0": Variant(
        "fp8_block_e8m0", lambda o, i: {".weight": ("F8_E4M3", (o, i)), ".scale": ("F8_E8M0", (o // 128, i // 128))}
    ),
    "fp8_channel": Variant(
        "fp8_channel", lambda o, i: {".weight": ("F8_E4M3", (o, i)), ".weight_scale": ("BF16", (o, 1))}, stacked=True
    ),
    "fp8_tensor": Variant(
        "fp8_tensor",
        lambda o, i: {".weight": ("F8_E4M3", (o, i)), ".weight_scale": ("F32", ()), ".input_scale": ("F32", ())},
    ),
    "mxfp4": Variant(
        "mxfp4", lambda o, i: {"_blocks": ("U8", (o, i // 32, 16)), "_scales": ("U8", (o, i // 32))}, stacked=True
    ),
    "mxfp8": Variant(
        "mxfp8", lambda o, i: {".weight": ("F8_E4M3", (o, i)), ".weight_scale": ("F8_E8M0", (o, i // 32))}, stacked=True
    ),
    "fp4_e8m0": Variant(
        "fp4_e8m0", lambda o, i: {".weight": ("I8", (o, i // 2)), ".scale": ("F8_E8M0", (o, i // 32))}
    ),
}  # fmt: skip
