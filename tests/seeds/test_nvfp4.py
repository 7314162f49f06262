"""NVFP4: two values a byte, a scale for each 16 values of the input, two scalars a weight."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tests.seeds.model import Model, numbered, write_checkpoint

WIDE = {"hidden_size": 2688, "intermediate_size": 1856}
SMALL = {"hidden_size": 32, "intermediate_size": 64}


@pytest.fixture
def nvfp4(model: Callable[..., Model]) -> Model:
    return model("nvfp4")


def small_tensors() -> dict[str, torch.Tensor]:
    full: dict[str, torch.Tensor] = {}
    for name, out, inputs in (("up_proj", 64, 32), ("down_proj", 32, 64)):
        full[f"{name}.weight"] = numbered((out, inputs // 2), torch.uint8)
        full[f"{name}.weight_scale"] = numbered((out, inputs // 16), torch.float8_e4m3fn)
        full[f"{name}.weight_scale_2"] = torch.tensor(0.5)
        full[f"{name}.input_scale"] = torch.tensor([0.25])
    return full


def test_rows_of_weight_and_scales_are_cut_alike(nvfp4: Model) -> None:
    kept = nvfp4.kept(WIDE, (1, 2))
    assert kept["up_proj.weight"].shape == (1856, 1344)
    assert kept["up_proj.weight"].spans == [[(928, 1856)], [(0, 1344)]]
    assert kept["up_proj.weight_scale"].shape == (1856, 168)
    assert kept["up_proj.weight_scale"].spans == [[(928, 1856)], [(0, 168)]]
    assert kept["up_proj.weight_scale_2"].at == ()


def test_columns_are_bytes_of_two_and_groups_of_16(nvfp4: Model) -> None:
    kept = nvfp4.kept(WIDE, (3, 4))
    assert kept["down_proj.weight"].shape == (2688, 928)
    assert kept["down_proj.weight"].spans == [[(0, 2688)], [(696, 928)]]
    assert kept["down_proj.weight_scale"].shape == (2688, 116)
    assert kept["down_proj.weight_scale"].spans == [[(0, 2688)], [(87, 116)]]


def test_a_cut_inside_a_group(nvfp4: Model) -> None:
    assert nvfp4.refusal(WIDE, {"tp": 8}) == (
        "SHD201: 1856 inter cannot be dealt to 8 tp ranks: 116 granules of 16, 14.5 (232 elements) each"
    )


def test_an_input_that_is_no_whole_number_of_groups(nvfp4: Model) -> None:
    config = {"hidden_size": 24, "intermediate_size": 64}
    assert nvfp4.refusal(config, {"tp": 2}) == "SHD213: up_proj.weight_scale: 24 is not a multiple of 16"


def test_loading_the_second_half(nvfp4: Model, tmp_path: Path) -> None:
    full = small_tensors()
    loaded = nvfp4.module.load(write_checkpoint(tmp_path / "small", SMALL, full), tp_rank=1, tp_size=2)
    assert torch.equal(loaded["up_proj.weight"], full["up_proj.weight"][32:])
    assert torch.equal(
        loaded["up_proj.weight_scale"].view(torch.uint8), full["up_proj.weight_scale"].view(torch.uint8)[32:]
    )
    assert torch.equal(loaded["down_proj.weight"], full["down_proj.weight"][:, 16:])
    assert loaded["down_proj.weight_scale"].view(torch.uint8)[0].tolist() == [2, 3]
    assert loaded["down_proj.weight_scale"].shape == (32, 2)
    for name in ("up_proj", "down_proj"):
        assert loaded[f"{name}.weight_scale_2"].item() == 0.5
        assert loaded[f"{name}.input_scale"].tolist() == [0.25]
