"""Plain matrices and vectors: rows of the output, columns of the input."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tests.seeds.model import Model, numbered, write_checkpoint

UP = {"hidden_size": 3072, "intermediate_size": 4096}
SMALL = {"hidden_size": 3, "intermediate_size": 8}
ODD = {"hidden_size": 3, "intermediate_size": 5}
BF16_BYTES = 2


@pytest.fixture
def dense(model: Callable[..., Model]) -> Model:
    return model("dense")


def tensors(inter: int) -> dict[str, torch.Tensor]:
    shapes = {
        "up_proj.weight": (inter, 3),
        "up_proj.bias": (inter,),
        "down_proj.weight": (3, inter),
        "norm.weight": (3,),
    }
    return {name: numbered(shape, torch.bfloat16) for name, shape in shapes.items()}


def test_a_column_cut_is_one_run_of_bytes(dense: Model) -> None:
    up = dense.kept(UP, (2, 4))["up_proj.weight"]
    assert up.shape == (4096, 3072)
    assert up.spans == [[(2048, 3072)], [(0, 3072)]]
    assert up.spans[0][0][0] * 3072 * BF16_BYTES == 12_582_912
    assert up.local_bytes == 6_291_456


def test_a_row_cut_is_a_run_of_each_row(dense: Model) -> None:
    down = dense.kept(UP, (1, 2))["down_proj.weight"]
    assert down.shape == (3072, 4096)
    assert down.spans == [[(0, 3072)], [(2048, 4096)]]
    assert down.local_shape == (3072, 2048)
    assert down.local_bytes == 12_582_912


def test_vectors(dense: Model) -> None:
    kept = dense.kept(UP, (2, 4))
    assert kept["up_proj.bias"].spans == [[(2048, 3072)]]
    assert kept["norm.weight"].spans == [[(0, 3072)]]


def test_the_numbers_of_a_rank(dense: Model, tmp_path: Path) -> None:
    loaded = dense.module.load(write_checkpoint(tmp_path / "small", SMALL, tensors(8)), tp_rank=2, tp_size=4)
    assert loaded["up_proj.weight"].tolist() == [[12, 13, 14], [15, 16, 17]]
    assert loaded["up_proj.bias"].tolist() == [4, 5]
    assert loaded["down_proj.weight"].tolist() == [[4, 5], [12, 13], [20, 21]]
    assert loaded["norm.weight"].tolist() == [0, 1, 2]


def test_five_rows_are_refused(dense: Model) -> None:
    assert dense.refusal(ODD, {"tp": 2}) == "SHD201: 5 inter cannot be dealt to 2 tp ranks: 2.5 each"


@pytest.mark.usefixtures("no_allocation")
def test_a_refusal_allocates_nothing(dense: Model, tmp_path: Path) -> None:
    full = tensors(5)
    directory = write_checkpoint(tmp_path / "odd", ODD, full)
    with pytest.raises(dense.module.rt.ShardError, match="SHD201: 5 inter"):
        dense.module.load(directory, tp_rank=0, tp_size=2)
    with pytest.raises(dense.module.rt.ShardError, match="SHD201: 5 inter"):
        dense.shard(full, ODD, (0, 2))
