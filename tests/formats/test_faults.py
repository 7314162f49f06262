"""What a format cannot be, and what it must not be taken for: the same words from both programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.formats.checkpoints import HIDDEN, INTER, config, headers, tensors
from tests.formats.variants import VARIANTS
from tests.plan.support import spec
from tests.rules.support import findings_of
from tests.seeds.model import Headers, Model
from tests.support import compiled

ModelOf = Callable[[str], Model]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("awq", "4 granules of 128, 0.5 (64 elements) each"),
        ("gptq", "4 granules of 128, 0.5 (64 elements) each"),
        ("fp8_block", "4 granules of 128, 0.5 (64 elements) each"),
    ],
)
def test_groups_and_blocks_are_not_cut(name: str, message: str, model_of: ModelOf) -> None:
    refused = model_of(name).refusal(config(VARIANTS[name]), {"tp": 8, "ep": 1}, headers(tensors(VARIANTS[name])))
    assert refused == f"SHD201: 512 inter cannot be dealt to 8 tp ranks: {message}"


@pytest.mark.parametrize(
    ("name", "tp"),
    [("gptq, act-order", 64), ("w4a16_ct, act-order", 64), ("w4a16_ct, one group", 64), ("gptq, 8 bits, one group", 128),
     ("mlx_affine", 8), ("mlx_affine, 3 bits", 16), ("nvfp4", 32), ("mxfp8", 16), ("fp8_channel", 512)],
)  # fmt: skip
def test_the_most_ranks(name: str, tp: int, model_of: ModelOf) -> None:
    """512 inputs in words of 8, groups of 64 or 32 or 16, or one by one; act-order leaves the words alone."""
    variant, file = VARIANTS[name], headers(tensors(VARIANTS[name]))
    kept = model_of(name).kept(config(variant), tp=(tp - 1, tp), headers=file)
    assert all(size > 0 for one in kept.values() for size in one.local_shape)
    refused = model_of(name).refusal(config(variant), {"tp": 2 * tp, "ep": 1}, file)
    assert refused.startswith(f"SHD201: 512 inter cannot be dealt to {2 * tp} tp ranks")


ONE = """\
config: {{hidden: hidden, inter_size: inter}}
axes: {{inter: {{size: inter_size}}}}
groups:
  all: {{tensors: {{down.weight: {{shape: [hidden, inter], shard: row_parallel, formats: [{format}]}}}}}}
"""


def one(format: str, folder: Path) -> Model:
    return Model(spec(ONE.format(format=format)), folder)


MLX = {"hidden": HIDDEN, "inter": INTER, "quantization": {"bits": 4, "group_size": 64}}


def test_half_of_the_input_is_a_shard_and_not_a_weight_of_half_the_bits(tmp_path: Path) -> None:
    model = one("mlx_affine", tmp_path)
    half: Headers = {
        "down.weight": ("U32", (256, 32)),
        "down.scales": ("F16", (256, 4)),
        "down.biases": ("F16", (256, 4)),
    }
    found = findings_of(model.spec, MLX, half)
    assert [finding.message for finding in found] == [
        "down.weight: shape [256, 32] in the file, [256, 64] by the spec",
        "down.scales: shape [256, 4] in the file, [256, 8] by the spec",
        "down.biases: shape [256, 4] in the file, [256, 8] by the spec",
    ]
    assert {finding.help for finding in found} == {
        "already cut for 2 ranks: this is a rank's shard, not the whole tensor"
    }
    whole = model.kept(MLX, headers={name: (dtype, (rows, 2 * n)) for name, (dtype, (rows, n)) in half.items()})
    assert whole["down.weight"].shape == (256, 64)


def test_a_group_that_is_short(tmp_path: Path) -> None:
    """MLX has whole groups alone."""
    ragged = {**MLX, "inter": 480}
    assert [
        fault.error.message for fault in compiled(spec(ONE.format(format="mlx_affine")), ragged, {"tp": 1}).cuts
    ] == [
        "480 is not a multiple of 64",
        "480 is not a multiple of 64",
    ]
    assert one("mlx_affine", tmp_path).load_time_refusal(ragged, {"tp": 1}) == (
        "SHD213: down.scales: 480 is not a multiple of 64\nSHD213: down.biases: 480 is not a multiple of 64"
    )


def test_a_short_group_of_one_rank(tmp_path: Path) -> None:
    """compressed-tensors may end with a short group, which only one rank can hold."""
    ct = one("w4a16_ct", tmp_path)
    file: Headers = {
        "down.weight_packed": ("I32", (256, 60)), "down.weight_scale": ("BF16", (256, 8)), "down.weight_shape": ("I64", (2,)),
    }  # fmt: skip
    weights = {"num_bits": 4, "group_size": 64}
    config = {"hidden": 256, "inter": 480, "quantization_config": {"config_groups": {"group_0": {"weights": weights}}}}
    assert ct.kept(config, headers=file)["down.weight_scale"].spans == [[(0, 256)], [(0, 8)]]
    assert ct.refusal(config, {"tp": 2}, file) == (
        "SHD201: 480 inter cannot be dealt to 2 tp ranks: 7.5 granules of 64, 3.75 (240 elements) each"
    )
