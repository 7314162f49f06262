"""Kimi delta attention: 15 tensors, four ways to cut them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tests.seeds.model import Model, numbered, write_checkpoint
from tests.support import ROOT, checkpoint, compiled, plan

GLM = {"hidden_size": 4096, "num_heads": 64, "head_dim": 128, "conv_kernel": 4, "gate_rank": 128}
TINY = {"hidden_size": 8, "num_heads": 4, "head_dim": 128, "conv_kernel": 4, "gate_rank": 16}
FULL_BYTES = {
    "q_proj.weight": 67_108_864,
    "k_proj.weight": 67_108_864,
    "v_proj.weight": 67_108_864,
    "q_conv1d.weight": 65_536,
    "k_conv1d.weight": 65_536,
    "v_conv1d.weight": 65_536,
    "f_a_proj.weight": 1_048_576,
    "f_b_proj.weight": 2_097_152,
    "g_a_proj.weight": 1_048_576,
    "g_b_proj.weight": 2_097_152,
    "b_proj.weight": 524_288,
    "A_log": 256,
    "dt_bias": 32_768,
    "o_norm.weight": 256,
    "o_proj.weight": 67_108_864,
}
REPLICATED = {"f_a_proj.weight", "g_a_proj.weight", "o_norm.weight"}
SPREAD = ("{size: num_heads}", "{size: num_heads, if_uneven: spread}")
SPREAD_PAIRS = ("{size: num_heads}", "{size: num_heads, if_uneven: spread, granule: 2}")


@pytest.fixture
def kda(model: Callable[..., Model]) -> Model:
    return model("kda")


def test_bytes_of_a_layer(kda: Model) -> None:
    kept = kda.kept(GLM)
    assert {name: one.full_bytes for name, one in kept.items()} == FULL_BYTES
    assert sum(FULL_BYTES.values()) == 275_481_088


def test_alone_a_rank_keeps_the_file_and_reduces_nothing(kda: Model) -> None:
    for one in kda.kept(GLM).values():
        assert one.at == tuple(((0, size, 0),) for size in one.shape)
    assert kda.collectives({"tp": 1}) == []
    assert kda.collectives({"tp": 2}) == [("o_proj.weight", "all_reduce")]


@pytest.mark.parametrize("rank", [0, 1])
def test_two_ranks_halve_what_has_heads(kda: Model, rank: int) -> None:
    kept = kda.kept(GLM, (rank, 2))
    for name, one in kept.items():
        assert one.local_bytes == (FULL_BYTES[name] if name in REPLICATED else FULL_BYTES[name] // 2), name
    replicated = 2 * 1_048_576 + 256
    assert sum(FULL_BYTES[name] for name in REPLICATED) == replicated
    assert sum(one.local_bytes for one in kept.values()) == replicated + (275_481_088 - replicated) // 2


def test_the_second_rank_starts_at_head_32(kda: Model) -> None:
    kept = kda.kept(GLM, (1, 2))
    assert kept["q_proj.weight"].spans == [[(4096, 8192)], [(0, 4096)]]
    assert kept["b_proj.weight"].spans == [[(32, 64)], [(0, 4096)]]
    assert kept["A_log"].spans == [[(32, 64)]]
    assert kept["dt_bias"].spans == [[(4096, 8192)]]
    assert kept["o_norm.weight"].spans == [[(0, 128)]]
    assert kept["f_a_proj.weight"].spans == [[(0, 128)], [(0, 4096)]]
    assert kept["f_b_proj.weight"].spans == [[(4096, 8192)], [(0, 128)]]
    assert kept["o_proj.weight"].spans == [[(0, 4096)], [(4096, 8192)]]
    assert kept["q_conv1d.weight"].local_shape == (4096, 1, 4)


def test_three_ranks_do_not_divide_64_heads(kda: Model) -> None:
    assert kda.refusal(GLM, {"tp": 3}) == "SHD201: 64 kda_heads cannot be dealt to 3 tp ranks: 21.33 each"


@pytest.mark.parametrize(
    ("change", "heads"),
    [(SPREAD, [(0, 22), (22, 43), (43, 64)]), (SPREAD_PAIRS, [(0, 22), (22, 44), (44, 64)])],
)
def test_three_ranks_where_the_spec_spreads(
    model: Callable[..., Model], change: tuple[str, str], heads: list[tuple[int, int]]
) -> None:
    spread = model("kda", change)
    for rank, (start, stop) in enumerate(heads):
        kept = spread.kept(GLM, (rank, 3))
        assert kept["A_log"].spans == [[(start, stop)]]
        assert kept["dt_bias"].spans == [[(start * 128, stop * 128)]]
        assert kept["o_proj.weight"].spans == [[(0, 4096)], [(start * 128, stop * 128)]]


def test_a_block_of_the_convolution_kernel_needs_256_channels(kda: Model) -> None:
    config = GLM | {"num_heads": 2, "head_dim": 1}
    [fault] = compiled(kda.text, config, {"tp": 2}).contracts
    assert (fault.contract.use, fault.values, fault.rank) == ("causal_conv1d_l2norm", {"channels": 2}, {"tp": 0})
    assert kda.load_time_refusal(config, {"tp": 2}) == (
        "SHD301: causal_conv1d_l2norm needs channels % 256 == 0: channels = 2 on tp rank 0 of 2"
    )


def test_loading_the_second_half(kda: Model, tmp_path: Path) -> None:
    full = {
        name: numbered(one.shape, torch.float32 if one.dtype == "F32" else torch.bfloat16)
        for name, one in kda.kept(TINY).items()
    }
    full["q_conv1d.weight"] = full["q_conv1d.weight"].float() + 0.001
    loaded = kda.module.load(write_checkpoint(tmp_path / "tiny", TINY, full), tp_rank=1, tp_size=2)
    assert loaded.keys() == full.keys()
    assert loaded["A_log"].tolist() == [2, 3]
    assert loaded["dt_bias"].tolist() == list(range(256, 512))
    assert torch.equal(loaded["o_proj.weight"], full["o_proj.weight"][:, 256:])
    assert torch.equal(loaded["q_proj.weight"], full["q_proj.weight"][256:])
    assert torch.equal(loaded["f_a_proj.weight"], full["f_a_proj.weight"])
    assert loaded["q_conv1d.weight"].dtype == torch.bfloat16
    assert loaded["q_conv1d.weight"].shape == (256, 1, 4)
    assert torch.equal(loaded["q_conv1d.weight"], full["q_conv1d.weight"][256:].bfloat16())


def test_the_34_layers_of_a_published_checkpoint() -> None:
    glm = checkpoint("glm-5.3-flash")
    spec = (ROOT / "specs/glm5_next.yaml").read_text()
    whole = plan(spec, glm.config.data, {"tp": 1}, glm.headers)
    layers = {
        shard.part.names[0].partition(".self_attn.")[2]: (len(shard.names), shard.full_bytes)
        for shard in whole.shards({})
        if shard.family.entry.group == "kda"
    }
    assert layers == {name: (34, full_bytes) for name, full_bytes in FULL_BYTES.items()}
    assert sum(count * full_bytes for count, full_bytes in layers.values()) == 9_366_356_992
