"""Cases about memory: what a rank will hold, and what loading takes on the device besides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from shardc.plan.totals import rank_totals
from tests.cases.files import probe
from tests.cases.support import Case, check, read_cases
from tests.seeds.model import Model, numbered, write_checkpoint
from tests.support import plan

CASES = {case.id: case for case in read_cases() if case.kind == "memory"}
ModelOf = Callable[[Case], Model]
TEN_THOUSANDTHS = 10_000


def test_these_are_all() -> None:
    assert list(CASES) == ["P3-memory-estimate", "P4-peak-buffer"]


def test_bytes_of_a_rank_are_its_share_and_what_is_replicated(model_of: ModelOf) -> None:
    case = CASES["P3-memory-estimate"]
    assert check(case) == []
    totals = rank_totals(plan(case.spec.read_text(), case.config, case.sizes, case.headers), {"tp": 0})
    assert totals.local == 1_244_395 == case.expect["per_rank_gib"] * TEN_THOUSANDTHS
    assert totals.replicated == 271_710 == case.expect["replicated_gib"] * TEN_THOUSANDTHS
    assert totals.full - totals.replicated == 7_781_480 == case.expect["routed_gib"] * TEN_THOUSANDTHS
    assert totals.padding == 0
    headers = {name: model_of(case).module.rt.Header(*header) for name, header in case.tensors.items()}
    shards = model_of(case).module.plan(case.config, case.mesh, headers)
    assert sum(shard.local_bytes for shard in shards) == totals.local


@pytest.mark.parametrize("ranks", [1, 2, 8, 64])
def test_loading_allocates_the_local_tensors_and_nothing_else(ranks: int, model_of: ModelOf, tmp_path: Path) -> None:
    """The device is torch's `meta`, on which only shapes exist; the file grows with the ranks, a rank's part does not."""
    case = CASES["P4-peak-buffer"]
    rows = 2 * ranks
    shapes = {"up.weight": (rows, 4), "down.weight": (4, rows), "both.weight": (4, 2 * rows), "norm.weight": (4,)}
    if ranks == case.sizes["tp"]:
        assert shapes == {name: shape for name, (_, shape) in case.tensors.items()}
    directory = write_checkpoint(
        tmp_path / "saved", {"rows": rows}, {name: numbered(shape) for name, shape in shapes.items()}
    )
    with Allocated() as allocated:
        loaded = model_of(case).module.load(directory, tp_rank=ranks - 1, tp_size=ranks, device="meta")
    slab = sum(-(-tensor.nbytes // 64) * 64 for tensor in loaded.values())  # each begins at a multiple of 64 bytes
    assert allocated.bytes == slab + case.expect["extra_device_bytes"] == 64 + 64 + 64 + 64
    assert allocated.into_parts_of_rows == 0


def test_parts_of_rows_are_put_together_before_they_cross(model_of: ModelOf, tmp_path: Path) -> None:
    case = CASES["P4-peak-buffer"]
    directory = write_checkpoint(tmp_path / "saved", case.config, probe(case.tensors))
    loaded = model_of(case).module.load(directory, mesh={"tp": (1, 8)})
    assert loaded["both.weight"].tolist() == [[2, 3, 18, 19], [34, 35, 50, 51], [66, 67, 82, 83], [98, 99, 114, 115]]


class Allocated(TorchDispatchMode):
    """Counts bytes of the storages made on the device `meta`, and copies from elsewhere to parts of rows there.

    On a GPU such a copy takes a buffer of its own.
    """

    def __init__(self) -> None:
        super().__init__()
        self.bytes = 0
        self.into_parts_of_rows = 0
        self.storages: list[torch.UntypedStorage] = []

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(result):
            if isinstance(tensor, torch.Tensor) and tensor.device.type == "meta":
                self._see(tensor.untyped_storage())
        if func is torch.ops.aten.copy_.default and args[0].device != args[1].device:
            self.into_parts_of_rows += not args[0].is_contiguous()
        return result

    def _see(self, storage: torch.UntypedStorage) -> None:
        if all(storage._cdata != known._cdata for known in self.storages):
            self.storages.append(storage)
            self.bytes += storage.nbytes()
