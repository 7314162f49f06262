"""The dtypes of a safetensors file, and torch's names for them."""

from __future__ import annotations

from functools import lru_cache
from math import prod

import torch

# A torch before 2.7 has no E8M0 (powers of two, the scales of MX formats): their bytes are loaded as they are.
E8M0: torch.dtype = getattr(torch, "float8_e8m0fnu", torch.uint8)

TORCH_DTYPES: dict[str, torch.dtype] = {
    "BOOL": torch.bool,
    "U8": torch.uint8,
    "I8": torch.int8,
    "F8_E4M3": torch.float8_e4m3fn,
    "F8_E5M2": torch.float8_e5m2,
    "F8_E8M0": E8M0,
    "I16": torch.int16,
    "U16": torch.uint16,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I32": torch.int32,
    "U32": torch.uint32,
    "F32": torch.float32,
    "I64": torch.int64,
    "U64": torch.uint64,
    "F64": torch.float64,
}
FILE_DTYPES: dict[torch.dtype, str] = {dtype: name for name, dtype in reversed(TORCH_DTYPES.items())}
# Elements are moved as whole numbers of their size in bytes: no bit of a float changes on the way.
RAW: dict[int, torch.dtype] = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
CASTABLE = ("F16", "BF16", "F32", "F64")


@lru_cache(maxsize=4096)
def nbytes(dtype: str, shape: tuple[int, ...]) -> int:
    """Bytes of a tensor in the file."""
    return prod(shape) * TORCH_DTYPES[dtype].itemsize
