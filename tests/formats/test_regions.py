"""The regions of every tensor of every format on rank 1 of tp = 2, as numbers.

`up_proj` is 512 x 256 and cut by its output: rows 256..512. `down_proj` is 256 x 512 and cut by its input: 256..512.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import pytest

from tests.formats.checkpoints import config, headers, tensors
from tests.formats.variants import VARIANTS
from tests.seeds.model import Model

#: [start, stop) of each dim.
Spans: TypeAlias = list[tuple[int, int]]
_FP8 = ([(256, 512), (0, 256)], [(0, 256), (256, 512)])
_BLOCKS = ([(2, 4), (0, 2)], [(0, 2), (2, 4)])
_BYTES_OF_2 = ([(256, 512), (0, 128)], [(0, 256), (128, 256)])
_GROUPS_OF_16 = ([(256, 512), (0, 16)], [(0, 256), (16, 32)])
_GROUPS_OF_32 = ([(256, 512), (0, 8)], [(0, 256), (8, 16)])
_GROUPS_OF_64 = ([(256, 512), (0, 4)], [(0, 256), (4, 8)])
_ROWS_ALONE = ([(256, 512), (0, 1)], [(0, 256), (0, 1)])
_SCALAR: tuple[Spans, Spans] = ([], [])
_OF_ONE = ([(0, 1)], [(0, 1)])
_AWQ = {
    ".qweight": ([(0, 256), (32, 64)], [(256, 512), (0, 32)]),
    ".qzeros": ([(0, 2), (32, 64)], [(2, 4), (0, 32)]),
    ".scales": ([(0, 2), (256, 512)], [(2, 4), (0, 256)]),
}
_GPTQ = {
    ".qweight": ([(0, 32), (256, 512)], [(32, 64), (0, 256)]),
    ".qzeros": ([(0, 2), (32, 64)], [(2, 4), (0, 32)]),
    ".scales": ([(0, 2), (256, 512)], [(2, 4), (0, 256)]),
    ".g_idx": ([(0, 256)], [(256, 512)]),
}
_W4A16 = {
    ".weight_packed": ([(256, 512), (0, 32)], [(0, 256), (32, 64)]),
    ".weight_scale": _GROUPS_OF_64,
    ".weight_shape": ([(0, 2)], [(0, 2)]),
}
#: Of `up_proj`, and of `down_proj`.
REGIONS: Mapping[str, Mapping[str, tuple[Spans, Spans]]] = {
    "awq": _AWQ,
    "awq, config wrong": _AWQ,
    "gptq": _GPTQ,
    # All groups of the input, on every rank.
    "gptq, act-order": {
        **_GPTQ,
        ".qzeros": ([(0, 2), (32, 64)], [(0, 4), (0, 32)]),
        ".scales": ([(0, 2), (256, 512)], [(0, 4), (0, 256)]),
    },
    "gptq, 8 bits, one group": {
        ".qweight": ([(0, 64), (256, 512)], [(64, 128), (0, 256)]),
        ".qzeros": ([(0, 1), (64, 128)], [(0, 1), (0, 64)]),
        ".scales": ([(0, 1), (256, 512)], [(0, 1), (0, 256)]),
    },
    "w4a16_ct": _W4A16,
    "w4a16_ct, zero points": {**_W4A16, ".weight_zero_point": ([(32, 64), (0, 4)], [(0, 32), (4, 8)])},
    "w4a16_ct, act-order": {
        **_W4A16,
        ".weight_scale": ([(256, 512), (0, 4)], [(0, 256), (0, 8)]),
        ".weight_g_idx": ([(0, 256)], [(256, 512)]),
    },
    "w4a16_ct, one group": {**_W4A16, ".weight_scale": _ROWS_ALONE},
    "mlx_affine": {
        ".weight": ([(256, 512), (0, 32)], [(0, 256), (32, 64)]),
        ".scales": _GROUPS_OF_64,
        ".biases": _GROUPS_OF_64,
    },
    "mlx_affine, 3 bits": {
        ".weight": ([(256, 512), (0, 24)], [(0, 256), (24, 48)]),
        ".scales": _GROUPS_OF_32,
        ".biases": _GROUPS_OF_32,
    },
    "nvfp4": {
        ".weight": _BYTES_OF_2,
        ".weight_scale": _GROUPS_OF_16,
        ".weight_scale_2": _SCALAR,
        ".input_scale": _SCALAR,
    },
    "nvfp4_ct": {
        ".weight_packed": _BYTES_OF_2,
        ".weight_scale": _GROUPS_OF_16,
        ".weight_global_scale": _OF_ONE,
        ".input_global_scale": _OF_ONE,
    },
    "fp8_block": {".weight": _FP8, ".weight_scale_inv": _BLOCKS},
    "fp8_block_e8m0": {".weight": _FP8, ".scale": _BLOCKS},
    "fp8_channel": {".weight": _FP8, ".weight_scale": _ROWS_ALONE},
    "fp8_tensor": {".weight": _FP8, ".weight_scale": _SCALAR, ".input_scale": _SCALAR},
    "mxfp4": {
        "_blocks": ([(256, 512), (0, 8), (0, 16)], [(0, 256), (8, 16), (0, 16)]),
        "_scales": _GROUPS_OF_32,
    },
    "mxfp8": {".weight": _FP8, ".weight_scale": _GROUPS_OF_32},
    "fp4_e8m0": {".weight": _BYTES_OF_2, ".scale": _GROUPS_OF_32},
}


@pytest.mark.parametrize("name", VARIANTS)
def test_the_numbers_are_these(name: str, model_of: Callable[[str], Model]) -> None:
    variant = VARIANTS[name]
    kept = model_of(name).kept(config(variant), tp=(1, 2), ep=(1, 2), headers=headers(tensors(variant)))
    found = {tensor: [(start, stop) for [(start, stop)] in one.spans] for tensor, one in kept.items()}
    expected: dict[str, Spans] = {}
    for ending, both in REGIONS[name].items():
        for weight, spans in zip(("up_proj", "down_proj"), both, strict=True):
            expected[weight + ending] = spans
            # Of 4 experts, rank 1 of ep = 2 has the last two.
            expected |= {f"experts.{expert}.{weight}{ending}": spans for expert in (2, 3)}
            if variant.stacked:
                expected[f"stacked.{weight}{ending}"] = [(2, 4), *spans]
    assert found == expected
