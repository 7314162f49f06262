"""A spec in its two forms, asked together: interpreted, and as the module generated from it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors.torch import save_file

from shardc.layout.errors import FormulaError, SplitError
from shardc.layout.regions import Region
from shardc.layout.units import CutError
from shardc.plan.collectives import collectives
from tests.support import compiled, generated, generated_rows, plan, resolved, rows

Config = Mapping[str, Any]
Headers = Mapping[str, tuple[str, tuple[int, ...]]]
#: A gated delta net that is quickly made.
SMALL_GDN = {
    "hidden_size": 64,
    "num_key_heads": 4,
    "key_dim": 8,
    "num_value_heads": 8,
    "value_dim": 16,
    "conv_kernel": 4,
}
ITEM_BYTES = {"BF16": 2, "F32": 4, "U8": 1, "F8_E4M3": 1, "I64": 8}


class Kept(NamedTuple):
    """What a rank keeps of one tensor: `shape` is full, as in the file; `at` has the regions of each dim."""

    shape: tuple[int, ...]
    at: tuple[tuple[Region, ...], ...]
    dtype: str
    load: str

    @property
    def local_shape(self) -> tuple[int, ...]:
        return tuple(sum(stop - start + pad for start, stop, pad in dim) for dim in self.at)

    @property
    def spans(self) -> list[list[tuple[int, int]]]:
        """The regions of each dim without their padding, of which there has to be none."""
        assert not any(pad for dim in self.at for _, _, pad in dim)
        return [[(start, stop) for start, stop, _ in dim] for dim in self.at]

    @property
    def full_bytes(self) -> int:
        return _bytes(self.shape, self.dtype)

    @property
    def local_bytes(self) -> int:
        return _bytes(self.local_shape, self.load)


class Model:
    """A spec and its generated module. `kept` and `refusal` ask both, and both have to say the same."""

    def __init__(self, text: str, folder: Path) -> None:
        self.text = text
        self.spec = resolved(text)
        self.module = generated(self.spec, folder)

    def kept(
        self, config: Config, tp: tuple[int, int] = (0, 1), ep: tuple[int, int] = (0, 1), headers: Headers | None = None
    ) -> dict[str, Kept]:
        """Every tensor that the rank `(rank, size)` keeps, by name."""
        both = {name: one for name, one in {"tp": tp, "ep": ep}.items() if name in self.spec.mesh_dims}
        sizes = {name: size for name, (_, size) in both.items()}
        interpreted = rows(plan(self.text, config, sizes, headers), {name: rank for name, (rank, _) in both.items()})
        assert interpreted == generated_rows(self.module, config, both, self._headers(headers))
        return {name: Kept(*row) for name, row in interpreted.items()}

    def refusal(self, config: Config, mesh: Mapping[str, int], headers: Headers | None = None) -> str:
        """The one fault that stops this mesh, as the module words it; the compiler finds the same."""
        found = compiled(self.text, config, mesh, headers)
        errors: list[SplitError | FormulaError | CutError] = [fault.error for fault in found.axes]
        [error] = errors + [fault.error for fault in found.cuts]
        text = self.load_time_refusal(config, mesh, headers)
        assert text.startswith(error.code)
        assert text.endswith(error.message)
        return text

    def load_time_refusal(self, config: Config, mesh: Mapping[str, int], headers: Headers | None = None) -> str:
        """What the generated module says of the first rank."""
        ranks = {name: (0, size) for name, size in mesh.items()}
        try:
            self.module.plan(config, ranks, self._headers(headers))
        except self.module.rt.ShardError as error:
            return str(error)
        raise AssertionError("not refused")

    def collectives(self, mesh: Mapping[str, int]) -> list[tuple[str, str]]:
        """(tensor, what to do) for every collective that is work on this mesh."""
        stated = [(one.pattern, one.what, one.over) for one in collectives(self.spec)]
        assert tuple(stated) == self.module.COLLECTIVES
        return [(pattern, what) for pattern, what, over in stated if mesh.get(over, 1) > 1]

    def shard(self, full: Mapping[str, torch.Tensor], config: Config, tp: tuple[int, int]) -> dict[str, torch.Tensor]:
        """One rank's part of tensors in memory."""
        parts: dict[str, torch.Tensor] = self.module.shard_tensors(full, config, tp_rank=tp[0], tp_size=tp[1])
        return parts

    def _headers(self, headers: Headers | None) -> Mapping[str, Any] | None:
        return None if headers is None else {name: self.module.rt.Header(*one) for name, one in headers.items()}


def numbered(shape: tuple[int, ...], dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """0, 1, 2, … in the order of the file; narrow dtypes start again after 250 (a prime: rows still differ)."""
    count = torch.arange(torch.Size(shape).numel())
    if dtype.itemsize < 4:
        count = count % 251
    if dtype.itemsize == 1:
        return count.to(torch.uint8).view(dtype).reshape(shape)
    return count.to(dtype).reshape(shape)


def write_checkpoint(directory: Path, config: Config, full: Mapping[str, torch.Tensor]) -> Path:
    """A checkpoint of one file in `directory`, which is made."""
    directory.mkdir(parents=True)
    (directory / "config.json").write_text(json.dumps(config))
    save_file(dict(full), directory / "model.safetensors")
    return directory


def joined(kept: list[Kept], parts: list[torch.Tensor]) -> torch.Tensor:
    """One tensor of the file again, from the parts of all ranks."""
    full = parts[0].new_zeros(kept[0].shape)
    for one, part in zip(kept, parts, strict=True):
        elements = [torch.cat([torch.arange(start, stop) for start, stop in dim]) for dim in one.spans]
        full[torch.meshgrid(*elements, indexing="ij")] = part
    return full


def _bytes(shape: tuple[int, ...], dtype: str) -> int:
    return torch.Size(shape).numel() * ITEM_BYTES[dtype]
