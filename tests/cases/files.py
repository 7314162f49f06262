"""Checkpoints for cases: with numbers that say where they stood, with headers alone, or file by file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from shardc.plan.evidence import Header
from shardc.runtime.dtypes import TORCH_DTYPES, nbytes
from tests.cases.support import Case
from tests.seeds.model import numbered

#: The whole numbers of so many bytes.
BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def probe(headers: Mapping[str, Header]) -> dict[str, torch.Tensor]:
    """Each tensor with 0, 1, 2, … in the order of the file.

    BF16 and U8 can't hold every such number: these tensors are F32, which their specs allow as well.
    """
    return {
        name: numbered(shape, torch.float32 if dtype in ("BF16", "U8") else TORCH_DTYPES[dtype])
        for name, (dtype, shape) in headers.items()
    }


def counted(headers: Mapping[str, Header], digit: int) -> dict[str, torch.Tensor]:
    """Each tensor with a digit of 0, 1, 2, … as the bits of its elements: a digit has as many bits as an element."""
    return {name: _counted(shape, TORCH_DTYPES[dtype], digit) for name, (dtype, shape) in headers.items()}


def _counted(shape: tuple[int, ...], dtype: torch.dtype, digit: int) -> torch.Tensor:
    numbers = torch.arange(torch.Size(shape).numel())
    if dtype.itemsize < 4:
        numbers = numbers >> (8 * dtype.itemsize * digit) & _mask(dtype)
    return numbers.to(BITS[dtype.itemsize]).view(dtype).reshape(shape)


def numbers_in(digits: list[torch.Tensor]) -> torch.Tensor:
    """The numbers that were counted, from the same tensor of each file."""
    dtype = digits[0].dtype
    bits = [digit.view(BITS[dtype.itemsize]).long() for digit in digits]
    if dtype.itemsize >= 4:
        return bits[0]
    return torch.stack([(part & _mask(dtype)) << (8 * dtype.itemsize * i) for i, part in enumerate(bits)]).sum(0)


def _mask(dtype: torch.dtype) -> int:
    return (1 << 8 * dtype.itemsize) - 1


def write_headers(directory: Path, config: Mapping[str, Any], headers: Mapping[str, Header]) -> Path:
    """A checkpoint whose data is a hole of the right size: headers can be read, and no byte takes space on disk."""
    directory.mkdir(parents=True)
    (directory / "config.json").write_text(json.dumps(config))
    entries: dict[str, Any] = {}
    end = 0
    for name, (dtype, shape) in headers.items():
        begin, end = end, end + nbytes(dtype, shape)
        entries[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}
    header = json.dumps(entries).encode()
    with (directory / "model.safetensors").open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + end)
    return directory


def write_files(directory: Path, case: Case) -> Path:
    """A checkpoint of the case's files and index. Each tensor counts from 0 in the first file, from 100 in the next, …"""
    directory.mkdir(parents=True)
    (directory / "config.json").write_text(json.dumps(case.config))
    if case.index is not None:
        index = {"metadata": {}, "weight_map": case.index}
        (directory / "model.safetensors.index.json").write_text(json.dumps(index))
    for number, (file, saved) in enumerate(case.files.items()):
        entries: dict[str, Any] = {}
        data = b""
        for name in saved.tensors:
            dtype, shape = case.tensors[name]
            values = (numbered(shape) + 100 * number).to(TORCH_DTYPES[dtype]).flatten().view(torch.uint8)
            entries[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
            data += bytes(values.tolist())
        header = json.dumps(entries).encode().ljust(saved.header_bytes)
        trailing = b"x" * saved.trailing_bytes
        (directory / file).write_bytes(len(header).to_bytes(8, "little") + header + data + trailing)
    return directory
