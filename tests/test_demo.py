"""The demo's own claims, and that its merge would notice if one of them failed."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors import safe_open

from scripts.demo import differences, load_rank
from scripts.merge import Rank, merge, same_bytes, strays
from scripts.tiny_checkpoint import byte_count, read_checkpoint, write_checkpoint
from scripts.tiny_table import tiny_table

LAYER = "model.language_model.layers.{}.".format


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("toy")
    write_checkpoint(directory)
    return directory


@pytest.fixture(scope="module")
def wanted(checkpoint: Path) -> dict[str, torch.Tensor]:
    """What the spec claims of the file: all but the vision tower."""
    return {name: tensor for name, tensor in read_checkpoint(checkpoint).items() if ".visual." not in name}


@pytest.fixture(scope="module")
def ranks(checkpoint: Path) -> list[Rank]:
    return [load_rank(checkpoint, rank, 4, "cpu") for rank in range(4)]


def test_four_ranks_merged_are_the_file(ranks: list[Rank], wanted: dict[str, torch.Tensor]) -> None:
    assert (len(wanted), byte_count(wanted)) == (201, 13_628_936)
    assert differences(ranks, wanted) == []


@pytest.mark.parametrize("tp", [1, 2])
def test_other_sizes_too(checkpoint: Path, wanted: dict[str, torch.Tensor], tp: int) -> None:
    assert differences([load_rank(checkpoint, rank, tp, "cpu") for rank in range(tp)], wanted) == []


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_through_a_device(checkpoint: Path, wanted: dict[str, torch.Tensor]) -> None:
    assert differences([load_rank(checkpoint, rank, 4, "cuda") for rank in range(4)], wanted) == []


def test_shapes_of_the_last_rank(ranks: list[Rank]) -> None:
    local = {name: list(tensor.shape) for name, tensor in ranks[3].tensors.items()}
    assert local["lm_head.weight"] == [256, 256]
    assert local[LAYER(0) + "self_attn.q_conv1d.weight"] == [128, 1, 4]
    assert local[LAYER(0) + "self_attn.A_log"] == [1]
    assert local[LAYER(0) + "mlp.down_proj.weight"] == [256, 128]
    assert local[LAYER(0) + "mlp.down_proj.weight_scale_inv"] == [2, 1]
    assert local[LAYER(1) + "self_attn.kv_b_proj.weight"] == [512, 128]
    assert local[LAYER(1) + "self_attn.o_proj.weight_scale_inv"] == [2, 2]
    assert local[LAYER(3) + "mlp.experts.3.gate_proj.weight"] == [128, 256]
    assert local[LAYER(3) + "eh_proj.weight"] == [256, 512]


def test_the_vocabulary_is_padded_on_the_last_rank(ranks: list[Rank]) -> None:
    head = ranks[3].tensors["lm_head.weight"]
    assert same_bytes(head[232:], torch.zeros(24, 256, dtype=torch.bfloat16))
    assert not same_bytes(head[231:232], torch.zeros(1, 256, dtype=torch.bfloat16))


def test_a_changed_byte_is_noticed(ranks: list[Rank], wanted: dict[str, torch.Tensor]) -> None:
    name = LAYER(2) + "self_attn.o_proj.weight"
    changed = ranks[2].tensors[name].clone()
    changed.view(torch.uint8)[0, 0] ^= 1
    spoilt = [*ranks[:2], Rank(ranks[2].shards, {**ranks[2].tensors, name: changed}), ranks[3]]
    assert differences(spoilt, wanted) == [f"{name}, merged"]


def test_a_replica_that_differs_is_noticed(ranks: list[Rank], wanted: dict[str, torch.Tensor]) -> None:
    name = LAYER(0) + "self_attn.o_norm.weight"
    changed = ranks[1].tensors[name].clone()
    changed.view(torch.uint8)[0] ^= 1
    spoilt = [ranks[0], Rank(ranks[1].shards, {**ranks[1].tensors, name: changed}), *ranks[2:]]
    assert differences(spoilt, wanted) == [f"{name} on rank 1"]
    assert strays(spoilt[1], merge(spoilt)) == [name]


def test_a_rank_that_is_missing_is_noticed(ranks: list[Rank], wanted: dict[str, torch.Tensor]) -> None:
    assert f"{LAYER(0)}self_attn.A_log, merged" in differences(ranks[:3], wanted)
    assert differences([], {"a": torch.ones(1)}) == ["a is in the file, but on no rank"]


def test_the_table_at_toy_sizes() -> None:
    config, table = tiny_table()
    text = config["text_config"]
    assert text["layer_types"] == ["linear_attention", "deepseek_sparse_attention", "linear_attention"]
    assert text["mlp_layer_types"] == ["dense", "sparse", "sparse"]
    assert text["linear_attn_config"]["full_attn_layers"] == [1]
    assert (text["num_hidden_layers"], text["first_k_dense_replace"], text["num_nextn_predict_layers"]) == (3, 1, 1)
    assert table[LAYER(1) + "mlp.experts.0.up_proj.weight"].shape == (512, 256)
    assert table[LAYER(1) + "mlp.experts.0.up_proj.weight_scale_inv"].shape == (4, 2)
    assert table[LAYER(0) + "hc_attn_fn"].shape == (24, 1024)
    assert {entry.dtype for entry in table.values()} == {"BF16", "F32", "F8_E4M3"}
    assert LAYER(1) + "mlp.experts.4.up_proj.weight" not in table


def test_three_files_of_which_the_last_holds_a_third(checkpoint: Path) -> None:
    files = sorted(path.name for path in checkpoint.glob("*.safetensors"))
    assert files == [f"model-0000{number}-of-00003.safetensors" for number in (1, 2, 3)]
    with safe_open(checkpoint / files[2], "pt") as file:
        assert len(list(file.keys())) == 75
