"""LoRA adapters: A follows the input cut of its weight, B the output cut. 4 heads, 2 kv heads, 4 ranks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from tests.cli.support import invoke
from tests.companions.conftest import BASE, SPECS, ModelOf, write_adapter
from tests.seeds.model import Kept

LAYER = "base_model.model.model.layers.0."
ATTN = LAYER + "self_attn."
PLAIN = {"r": 3, "target_modules": ["q_proj", "v_proj", "o_proj"]}
PLAIN_SHAPES = {
    f"{ATTN}q_proj.lora_A.weight": (3, 8),
    f"{ATTN}q_proj.lora_B.weight": (8, 3),
    f"{ATTN}v_proj.lora_A.weight": (3, 8),
    f"{ATTN}v_proj.lora_B.weight": (4, 3),
    f"{ATTN}o_proj.lora_A.weight": (3, 8),
    f"{ATTN}o_proj.lora_B.weight": (8, 3),
}
FUSED = {"r": 3, "target_modules": ["qkv_proj", "gate_up_proj", "down_proj"]}
FUSED_SHAPES = {
    f"{ATTN}qkv_proj.lora_A.weight": (3, 8),
    f"{ATTN}qkv_proj.lora_B.weight": (16, 3),
    f"{LAYER}mlp.gate_up_proj.lora_A.weight": (3, 8),
    f"{LAYER}mlp.gate_up_proj.lora_B.weight": (24, 3),
    f"{LAYER}mlp.down_proj.lora_A.weight": (3, 12),
    f"{LAYER}mlp.down_proj.lora_B.weight": (8, 3),
}


def spans(kept: dict[str, Kept]) -> dict[str, list[list[tuple[int, int]]]]:
    return {name.removeprefix(LAYER).removesuffix(".weight"): one.spans for name, one in kept.items()}


def test_what_ranks_keep(model_of: ModelOf) -> None:
    config = {**BASE, "adapter": PLAIN}
    kept = [spans(model_of("lora").kept(config, tp=(rank, 4))) for rank in range(4)]
    assert kept[1] == {
        "self_attn.q_proj.lora_A": [[(0, 3)], [(0, 8)]],
        "self_attn.q_proj.lora_B": [[(2, 4)], [(0, 3)]],
        "self_attn.v_proj.lora_A": [[(0, 3)], [(0, 8)]],
        "self_attn.v_proj.lora_B": [[(0, 2)], [(0, 3)]],
        "self_attn.o_proj.lora_A": [[(0, 3)], [(2, 4)]],
        "self_attn.o_proj.lora_B": [[(0, 8)], [(0, 3)]],
    }
    assert [rank["self_attn.v_proj.lora_B"][0] for rank in kept] == [[(0, 2)], [(0, 2)], [(2, 4)], [(2, 4)]]


def test_numbers_of_rank_3(model_of: ModelOf, tmp_path: Path) -> None:
    directory = write_adapter(tmp_path / "adapter", PLAIN, PLAIN_SHAPES)
    loaded = model_of("lora").module.load(directory, tp_rank=3, tp_size=4)
    assert loaded[f"{ATTN}q_proj.lora_B.weight"].tolist() == [[18, 19, 20], [21, 22, 23]]
    assert loaded[f"{ATTN}v_proj.lora_B.weight"].tolist() == [[6, 7, 8], [9, 10, 11]]
    assert loaded[f"{ATTN}o_proj.lora_A.weight"].tolist() == [[6, 7], [14, 15], [22, 23]]
    assert loaded[f"{ATTN}q_proj.lora_A.weight"].flatten().tolist() == list(range(24))
    assert loaded[f"{ATTN}o_proj.lora_B.weight"].flatten().tolist() == list(range(24))
    assert len(loaded) == 6


def test_fused_projections(model_of: ModelOf, tmp_path: Path) -> None:
    kept = spans(model_of("lora").kept({**BASE, "adapter": FUSED}, tp=(1, 4)))
    assert kept["self_attn.qkv_proj.lora_B"][0] == [(2, 4), (8, 10), (12, 14)]
    assert kept["mlp.gate_up_proj.lora_B"][0] == [(3, 6), (15, 18)]
    assert kept["mlp.down_proj.lora_A"][1] == [(3, 6)]
    directory = write_adapter(tmp_path / "adapter", FUSED, FUSED_SHAPES)
    loaded = model_of("lora").module.load(directory, tp_rank=1, tp_size=4)
    assert loaded[f"{ATTN}qkv_proj.lora_B.weight"][:, 0].tolist() == [6, 9, 24, 27, 36, 39]
    assert loaded[f"{LAYER}mlp.gate_up_proj.lora_B.weight"][:, 0].tolist() == [9, 12, 15, 45, 48, 51]
    assert loaded[f"{LAYER}mlp.down_proj.lora_A.weight"].tolist() == [[3, 4, 5], [15, 16, 17], [27, 28, 29]]


@pytest.mark.parametrize(("adapter", "shapes"), [(PLAIN, PLAIN_SHAPES), (FUSED, FUSED_SHAPES)])
def test_product_of_the_parts_is_the_part_of_the_product(
    adapter: dict[str, object], shapes: dict[str, tuple[int, ...]], model_of: ModelOf, tmp_path: Path
) -> None:
    """B @ A on a rank is its rows (or columns) of the whole B @ A: the update that its weight takes."""
    directory = write_adapter(tmp_path / "adapter", adapter, shapes)
    module = model_of("lora").module
    whole = module.load(directory)
    for rank in range(4):
        kept = model_of("lora").kept({**BASE, "adapter": adapter}, tp=(rank, 4))
        loaded = module.load(directory, tp_rank=rank, tp_size=4)
        for name in shapes:
            if name.endswith("lora_A.weight"):
                a, b = name, name.replace("lora_A", "lora_B")
                rows = torch.cat([torch.arange(*span) for span in kept[b].spans[0]])
                columns = torch.cat([torch.arange(*span) for span in kept[a].spans[1]])
                assert torch.equal(loaded[b] @ loaded[a], (whole[b] @ whole[a])[rows][:, columns])


def test_a_rank_below_the_maximum_is_padded_then_dealt(model_of: ModelOf, tmp_path: Path) -> None:
    """Six rows padded to eight over four ranks: two each, and the last rank has the zeros."""
    shapes = {name: (tuple(6 if size == 3 else size for size in shape)) for name, shape in PLAIN_SHAPES.items()}
    shapes = {name: shape for name, shape in shapes.items() if "v_proj" not in name}
    model, config = model_of("lora_fully_sharded"), {**BASE, "adapter": {"r": 6}}
    ranks = [model.kept(config, tp=(rank, 4)) for rank in range(4)]
    a, b = f"{ATTN}q_proj.lora_A.weight", f"{ATTN}o_proj.lora_B.weight"
    assert [rank[a].at[0] for rank in ranks] == [((0, 2, 0),), ((2, 4, 0),), ((4, 6, 0),), ((0, 0, 2),)]
    assert [rank[b].spans[0] for rank in ranks] == [[(0, 2)], [(2, 4)], [(4, 6)], [(6, 8)]]
    directory = write_adapter(tmp_path / "adapter", {"r": 6}, shapes)
    loaded = [model.module.load(directory, tp_rank=rank, tp_size=4) for rank in range(4)]
    assert [part[a][:, 0].tolist() for part in loaded] == [[0, 8], [16, 24], [32, 40], [0, 0]]
    assert torch.cat([part[b] for part in loaded])[:, 0].tolist() == [0, 6, 12, 18, 24, 30, 36, 42]


def test_of_two_ranks_one_is_zeros_alone(model_of: ModelOf) -> None:
    model = model_of("lora_fully_sharded")
    at = [
        model.kept({**BASE, "adapter": {"r": 4}}, tp=(rank, 2))[f"{ATTN}q_proj.lora_A.weight"].at[0] for rank in (0, 1)
    ]
    assert at == [((0, 4, 0),), ((0, 0, 4),)]


def test_verify_reads_the_adapters_config(tmp_path: Path) -> None:
    directory = write_adapter(tmp_path / "adapter", PLAIN, PLAIN_SHAPES)
    result = invoke("verify", SPECS / "lora.yaml", directory)
    assert result.exit_code == 0
    assert "6 tensors, 528 bytes (528 B): 6 claimed, 0 ignored with a reason" in result.output


def test_a_value_of_the_adapters_config_is_shown_with_its_line(tmp_path: Path) -> None:
    directory = write_adapter(tmp_path / "adapter", {**PLAIN, "r": 4}, PLAIN_SHAPES)
    result = invoke("verify", SPECS / "lora.yaml", directory)
    assert result.exit_code == 1
    assert f"r           = 4  {directory}/adapter_config.json:3" in result.output


def test_an_adapter_is_not_taken_for_its_base_model(tmp_path: Path) -> None:
    directory = write_adapter(tmp_path / "adapter", PLAIN, PLAIN_SHAPES)
    result = invoke("verify", directory, "--format", "concise")
    assert result.exit_code == 1
    assert f"error[SHD409] no spec in specs for the architectures of {directory}/config.json: none" in result.output


def test_without_the_bases_config_its_sizes_are_missing(model_of: ModelOf, tmp_path: Path) -> None:
    directory = write_adapter(tmp_path / "adapter", PLAIN, PLAIN_SHAPES)
    (directory / "config.json").unlink()
    result = invoke("verify", SPECS / "lora.yaml", directory, "--format", "json")
    found = json.loads(result.stdout)["diagnostics"]
    assert {finding["message"] for finding in found} >= {"config has no hidden_size"}
    assert {finding["code"] for finding in found} == {"SHD108"}
    module = model_of("lora").module
    with pytest.raises(module.rt.ShardError, match="SHD108: config has no hidden_size"):
        module.load(directory)
