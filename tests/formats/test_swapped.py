"""gpt-oss: experts dense as [expert, in, out], and in MXFP4 as [expert, out, in / 32, 16], by one entry."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plan.support import spec
from tests.seeds.model import Headers, Model

TEXT = spec("""\
config: {hidden: hidden_size, inter_size: intermediate_size, num_experts: num_experts}
axes:
  inter: {size: inter_size}
  experts: {size: num_experts, over: ep}
groups:
  experts:
    at: experts
    tensors:
      gate_up_proj: {shape: [experts, hidden, inter * 2], dims: [in, out], shard: expert_slices + column_parallel, formats: [dense, mxfp4]}
      gate_up_proj_bias: {shape: [experts, inter * 2], shard: expert_slices + column_parallel}
      down_proj: {shape: [experts, inter, hidden], dims: [in, out], shard: expert_slices + row_parallel, formats: [dense, mxfp4]}
""")
CONFIG = {"hidden_size": 64, "intermediate_size": 192, "num_experts": 2}
BIAS = {"experts.gate_up_proj_bias": ("BF16", (2, 384))}
DENSE: Headers = {"experts.gate_up_proj": ("BF16", (2, 64, 384)), "experts.down_proj": ("BF16", (2, 192, 64)), **BIAS}
MXFP4: Headers = {
    "experts.gate_up_proj_blocks": ("U8", (2, 384, 2, 16)),
    "experts.gate_up_proj_scales": ("U8", (2, 384, 2)),
    "experts.down_proj_blocks": ("U8", (2, 64, 6, 16)),
    "experts.down_proj_scales": ("U8", (2, 64, 6)),
    **BIAS,
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    return Model(TEXT, tmp_path_factory.mktemp("swapped"))


def test_dense(model: Model) -> None:
    kept = model.kept(CONFIG, (1, 2), headers=DENSE)
    assert kept["experts.gate_up_proj"].spans == [[(0, 2)], [(0, 64)], [(192, 384)]]
    assert kept["experts.down_proj"].spans == [[(0, 2)], [(96, 192)], [(0, 64)]]


def test_blocks(model: Model) -> None:
    kept = model.kept(CONFIG, (1, 2), headers=MXFP4)
    assert {name.removeprefix("experts."): one.spans[1:] for name, one in kept.items()} == {
        "gate_up_proj_blocks": [[(192, 384)], [(0, 2)], [(0, 16)]],
        "gate_up_proj_scales": [[(192, 384)], [(0, 2)]],
        "gate_up_proj_bias": [[(192, 384)]],
        "down_proj_blocks": [[(0, 64)], [(3, 6)], [(0, 16)]],
        "down_proj_scales": [[(0, 64)], [(3, 6)]],
    }


def test_only_the_blocks_forbid_four_ranks(model: Model) -> None:
    """192 inputs are 48 for each of 4 ranks, and 6 blocks of 32."""
    assert model.kept(CONFIG, (1, 4), headers=DENSE)["experts.down_proj"].spans[1] == [(48, 96)]
    assert model.refusal(CONFIG, {"tp": 4, "ep": 1}, MXFP4) == (
        "SHD201: 192 inter cannot be dealt to 4 tp ranks: 6 granules of 32, 1.5 (48 elements) each"
    )


def test_loaded_from_a_config_it_is_dense(model: Model, tmp_path: Path) -> None:
    assert model.kept(CONFIG).keys() == DENSE.keys()
