"""FP8 with a scale for each block of 128 × 128: blocks are never cut, and only the last of a dim may be short."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tests.seeds.model import Model, numbered, write_checkpoint

WIDE = {"hidden_size": 7168, "intermediate_size": 18432}
SMALL = {"hidden_size": 200, "intermediate_size": 512}


@pytest.fixture
def fp8(model: Callable[..., Model]) -> Model:
    return model("fp8_block")


def test_rows_and_their_scale_rows(fp8: Model) -> None:
    kept = fp8.kept(WIDE, (5, 6))
    assert kept["up_proj.weight"].spans == [[(15360, 18432)], [(0, 7168)]]
    assert kept["up_proj.weight_scale_inv"].shape == (144, 56)
    assert kept["up_proj.weight_scale_inv"].spans == [[(120, 144)], [(0, 56)]]


def test_columns_and_their_scale_columns(fp8: Model) -> None:
    kept = fp8.kept(WIDE, (1, 2))
    assert kept["down_proj.weight"].spans == [[(0, 7168)], [(9216, 18432)]]
    assert kept["down_proj.weight_scale_inv"].shape == (56, 144)
    assert kept["down_proj.weight_scale_inv"].spans == [[(0, 56)], [(72, 144)]]


@pytest.mark.parametrize(
    ("intermediate", "tp", "counted"),
    [
        (18432, 32, "144 granules of 128, 4.5 (576 elements) each"),
        (33792, 16, "264 granules of 128, 16.5 (2112 elements) each"),
        (384, 2, "3 granules of 128, 1.5 (192 elements) each"),
        (320, 2, "2.5 granules of 128, 1.25 (160 elements) each"),
    ],
)
def test_a_cut_inside_a_block(fp8: Model, intermediate: int, tp: int, counted: str) -> None:
    config = WIDE | {"intermediate_size": intermediate}
    assert fp8.refusal(config, {"tp": tp}) == (
        f"SHD201: {intermediate} inter cannot be dealt to {tp} tp ranks: {counted}"
    )


def test_a_short_last_block_where_the_dim_is_whole(fp8: Model) -> None:
    kept = fp8.kept(SMALL, (1, 2))
    assert kept["up_proj.weight_scale_inv"].shape == (4, 2)
    assert kept["up_proj.weight_scale_inv"].spans == [[(2, 4)], [(0, 2)]]


def test_loading_the_last_quarter(fp8: Model, tmp_path: Path) -> None:
    full = {
        "up_proj.weight": numbered((512, 200), torch.float8_e4m3fn),
        "up_proj.weight_scale_inv": numbered((4, 2)),
        "down_proj.weight": numbered((200, 512), torch.float8_e4m3fn),
        "down_proj.weight_scale_inv": numbered((2, 4)),
    }
    loaded = fp8.module.load(write_checkpoint(tmp_path / "small", SMALL, full), tp_rank=3, tp_size=4)
    assert loaded["up_proj.weight_scale_inv"].tolist() == [[6, 7]]
    assert loaded["down_proj.weight_scale_inv"].tolist() == [[3], [7]]
    up, down = (loaded[f"{name}_proj.weight"].view(torch.uint8) for name in ("up", "down"))
    assert torch.equal(up, full["up_proj.weight"].view(torch.uint8)[384:])
    assert torch.equal(down, full["down_proj.weight"].view(torch.uint8)[:, 384:])


def test_the_file_s_scales_have_to_be_the_weight_s(fp8: Model, tmp_path: Path) -> None:
    full = {
        "up_proj.weight": numbered((512, 200), torch.float8_e4m3fn),
        "up_proj.weight_scale_inv": numbered((3, 2)),
        "down_proj.weight": numbered((200, 512), torch.float8_e4m3fn),
        "down_proj.weight_scale_inv": numbered((2, 4)),
    }
    with pytest.raises(fp8.module.rt.ShardError) as refused:
        fp8.module.load(write_checkpoint(tmp_path / "small", SMALL, full), tp_rank=0, tp_size=2)
    assert refused.value.findings == (
        ("SHD403", "up_proj.weight_scale_inv: shape [3, 2] in the file, [4, 2] by the spec"),
    )
