"""The dtypes of safetensors files and their sizes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

SIZES: Mapping[str, int] = {
    "BOOL": 1,
    "U8": 1,
    "I8": 1,
    "F8_E4M3": 1,
    "F8_E5M2": 1,
    "F8_E8M0": 1,
    "I16": 2,
    "U16": 2,
    "F16": 2,
    "BF16": 2,
    "I32": 4,
    "U32": 4,
    "F32": 4,
    "I64": 8,
    "U64": 8,
    "F64": 8,
}
"""Bytes per element of each dtype."""


def nbytes(dtype: str, shape: Sequence[int]) -> int:
    """Bytes of a tensor of this shape; a scalar, shape `()`, is one element. KeyError for a dtype not in SIZES."""
    return SIZES[dtype] * math.prod(shape)
