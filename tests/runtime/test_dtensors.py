"""DTensors over real process groups: each full tensor is what the file has, byte for byte; the rest is named."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from safetensors.torch import save_file
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor

import shardc.runtime as rt
from generated import llama
from tests.store.support import shard

from . import test_placing, tiny_model
from .ranks import results

CONFIG = {
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "vocab_size": 128,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 12,
    "attention_bias": True,
    "tie_word_embeddings": True,
}
LAYER = {
    "input_layernorm.weight": (8,),
    "post_attention_layernorm.weight": (8,),
    "self_attn.q_proj.weight": (8, 8),
    "self_attn.k_proj.weight": (4, 8),
    "self_attn.v_proj.weight": (4, 8),
    "self_attn.o_proj.weight": (8, 8),
    "self_attn.q_proj.bias": (8,),
    "self_attn.k_proj.bias": (4,),
    "self_attn.v_proj.bias": (4,),
    "self_attn.o_proj.bias": (8,),
    "mlp.gate_proj.weight": (12, 8),
    "mlp.up_proj.weight": (12, 8),
    "mlp.down_proj.weight": (8, 12),
}
CUT = {
    "input_layernorm.weight": "R",
    "post_attention_layernorm.weight": "R",
    "self_attn.q_proj.weight": "S(0)",
    "self_attn.k_proj.weight": "S(0)",
    "self_attn.v_proj.weight": "S(0)",
    "self_attn.o_proj.weight": "S(1)",
    "self_attn.q_proj.bias": "S(0)",
    "self_attn.k_proj.bias": "S(0)",
    "self_attn.v_proj.bias": "S(0)",
    "self_attn.o_proj.bias": "P(sum)",
    "mlp.gate_proj.weight": "S(0)",
    "mlp.up_proj.weight": "S(0)",
    "mlp.down_proj.weight": "S(1)",
}
ENDS = {"model.embed_tokens.weight": "S(0)", "lm_head.weight": "S(0)", "model.norm.weight": "R"}


def layers(cut: Mapping[str, str], *numbers: int) -> dict[str, str]:
    return {f"model.layers.{layer}.{name}": placement for layer in numbers for name, placement in cut.items()}


def write_llama(folder: Path) -> dict[str, torch.Tensor]:
    shapes = {"model.embed_tokens.weight": (128, 8), "model.norm.weight": (8,)}
    shapes |= {f"model.layers.{layer}.{name}": shape for layer in (0, 1) for name, shape in LAYER.items()}
    torch.manual_seed(0)
    full = {name: torch.rand(shape).to(torch.bfloat16) for name, shape in shapes.items()}
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    save_file(full, folder / "model.safetensors")
    return full


def told(tensors: Mapping[str, torch.Tensor], full: Mapping[str, torch.Tensor]) -> dict[str, Any]:
    """Mesh dims and placements of each DTensor, "plain" for the others; and the names of those that differ from `full`."""
    ways = {}
    differ = []
    for name, tensor in tensors.items():
        if not isinstance(tensor, DTensor):
            ways[name] = "plain"
            continue
        places = zip(tensor.device_mesh.mesh_dim_names or ("tp",), tensor.placements, strict=True)
        ways[name] = " ".join(f"{dim}:{placement!s}" for dim, placement in places)
        whole = tensor.full_tensor().contiguous()
        if not torch.equal(whole.reshape(-1).view(torch.uint8), full[name].reshape(-1).view(torch.uint8)):
            differ.append(name)
    return {"ways": ways, "differ": differ}


def llama_on(folder: Path, mesh: Any, full: Mapping[str, torch.Tensor]) -> dict[str, Any]:
    with warnings.catch_warnings(record=True) as caught:
        tensors = llama.load(str(folder), mesh=mesh, as_dtensor=True)
    twins = tensors.get("lm_head.weight") is tensors.get("model.embed_tokens.weight")
    answer = told(tensors, {**full, "lm_head.weight": full["model.embed_tokens.weight"]})
    return answer | {"warnings": [str(one.message) for one in caught], "twins": twins}


def of_spec(spec: rt.Spec, folder: Path, mesh: Any, fused: bool = True) -> dict[str, Any]:
    """A spec's tensors; their full ones are those of a rank that is alone."""
    rank = rt.mesh(spec.mesh, extra=mesh)
    over = rt.dtensor_mesh(mesh, rank, "cpu")
    full = rt.load(spec, folder, rt.mesh(spec.mesh), fused=fused)
    with warnings.catch_warnings(record=True) as caught:
        tensors = rt.as_dtensors(spec, folder, rt.load(spec, folder, rank, fused=fused), rank, over, fused=fused)
    placed = rt.placements(spec, rt.read_config(folder), mesh, rt.read_headers(folder), fused=fused)
    reasons = {name: way for name, way in placed.items() if isinstance(way, str)}
    return told(tensors, full) | {"warnings": [str(one.message) for one in caught], "reasons": reasons}


def refused(mesh: Any, **options: Any) -> Any:
    with pytest.raises(rt.ShardError) as caught:
        rank = rt.mesh(("tp", "ep"), extra=mesh, **options)
        rt.dtensor_mesh(mesh, rank, "meta")
    return caught.value.findings


def on_two(folder: Path) -> dict[str, Any]:
    first = dist.get_rank() == 0
    full = write_llama(folder / "llama") if first else {}
    dist.barrier()
    full = full or write_llama(folder / f"llama-{dist.get_rank()}")
    cut = shard(Path(llama.__file__).read_text(), folder / "llama", folder / f"cut-{dist.get_rank()}", {"tp": 2})
    return {
        "llama": llama_on(folder / "llama", init_device_mesh("cpu", (2,)), full),
        "cut before": llama_on(cut, init_device_mesh("cpu", (2,)), full),
        "refused": refused(init_device_mesh("cpu", (2,), mesh_dim_names=("ep",)), tp_rank=0, tp_size=2),
    }


def on_four(folder: Path) -> dict[str, Any]:
    full = write_llama(folder / f"llama-{dist.get_rank()}")
    here = folder / f"llama-{dist.get_rank()}"
    square = init_device_mesh("cpu", (2, 2), mesh_dim_names=("ep", "tp"))
    tiny = tiny_model.write_checkpoint(folder / f"tiny-{dist.get_rank()}", tiny_model.full_tensors())
    built = tiny_model.write_checkpoint(folder / f"built-{dist.get_rank()}", test_placing.FULL, {})
    return {
        "replicas": llama_on(here, init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp")), full),
        "stages": llama_on(here, init_device_mesh("cpu", (2, 2), mesh_dim_names=("pp", "tp")), full),
        "tp": llama_on(here, init_device_mesh("cpu", (4,), mesh_dim_names=("tp",)), full),
        "experts": of_spec(tiny_model.SPEC, tiny, square),
        "concat": of_spec(test_placing.spec("concat"), built, square),
        "interleave": of_spec(test_placing.spec("interleave"), built, square),
        "apart": of_spec(test_placing.spec("interleave"), built, square, fused=False),
    }


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    return results("tests.runtime.test_dtensors:on_two", 2, tmp_path_factory.mktemp("two"))


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    return results("tests.runtime.test_dtensors:on_four", 4, tmp_path_factory.mktemp("four"))


def over(form: str, placements: Mapping[str, str]) -> dict[str, str]:
    """`form` with the placement on tp filled in; what is plain stays so."""
    return {name: form.format(way) if way != "plain" else way for name, way in placements.items()}


def test_a_mesh_dim_without_a_name_is_tp(two: list[dict[str, Any]]) -> None:
    for rank in two:
        assert rank["llama"]["ways"] == over("tp:{}", ENDS | layers(CUT, 0, 1))
        assert (rank["llama"]["differ"], rank["llama"]["warnings"], rank["llama"]["twins"]) == ([], [], True)


def test_files_of_ranks_make_the_same_dtensors(two: list[dict[str, Any]]) -> None:
    for rank in two:
        assert rank["cut before"] == rank["llama"]


def test_what_is_no_mesh_for_dtensors(two: list[dict[str, Any]]) -> None:
    for rank in two:
        assert rank["refused"] == [
            ["SHD410", "as_dtensor=True needs tp in the DeviceMesh, which has ep: tp_size is 2"],
            ["SHD410", "as_dtensor=True: device is meta, and the DeviceMesh is of cpu"],
        ]


@pytest.mark.parametrize("mesh", [None, {"tp": (0, 2)}])
def test_dtensors_need_a_device_mesh(mesh: Any) -> None:
    with pytest.raises(llama.rt.ShardError, match=r"^SHD410: as_dtensor=True needs mesh=DeviceMesh$"):
        llama.load("nowhere", mesh=mesh, as_dtensor=True)


def test_dims_that_the_model_lacks_are_replicated_over(four: list[dict[str, Any]]) -> None:
    for rank in four:
        assert rank["replicas"]["ways"] == over("dp:R tp:{}", ENDS | layers(CUT, 0, 1))
        assert (rank["replicas"]["differ"], rank["replicas"]["warnings"]) == ([], [])


def test_stages_are_not_a_dim_of_a_dtensor(four: list[dict[str, Any]]) -> None:
    """The tied embedding, which both stages have, is of the same mesh as the others."""
    embedding = {"model.embed_tokens.weight": "S(0)"}
    for stage, rank in ((0, 0), (0, 1), (1, 2), (1, 3)):
        own = ENDS if stage == 1 else embedding
        assert four[rank]["stages"]["ways"] == over("tp:{}", own | layers(CUT, stage))
        assert (four[rank]["stages"]["differ"], four[rank]["stages"]["warnings"]) == ([], [])


def test_shared_heads_are_plain_and_named_once(four: list[dict[str, Any]]) -> None:
    shared = dict.fromkeys(("k_proj.weight", "v_proj.weight", "k_proj.bias", "v_proj.bias"), "plain")
    cut = CUT | {f"self_attn.{name}": way for name, way in shared.items()}
    for rank in four:
        assert rank["tp"]["ways"] == over("tp:{}", ENDS | layers(cut, 0, 1))
        assert rank["tp"]["differ"] == []
        assert rank["tp"]["warnings"] == [
            "SHD430: 8 of 29 tensors are plain, not DTensors: model.layers.0.self_attn.k_proj.weight, "
            "model.layers.0.self_attn.v_proj.weight, model.layers.1.self_attn.k_proj.weight and 5 more; placements() "
            "says why of each, of model.layers.0.self_attn.k_proj.weight: shared by ranks: tp rank 0 has 0..2 of dim 0, "
            "where Shard(0) would give it 0..1"
        ]


def test_experts_by_name(four: list[dict[str, Any]]) -> None:
    for at, rank in enumerate(four):
        experts = {f"experts.{2 * (at // 2) + i}.{name}.weight" for i in (0, 1) for name in ("up", "down")}
        assert rank["experts"]["ways"] == {
            "embed.weight": "plain",
            "qkv.weight": "plain",
            "o_proj.weight": "ep:R tp:S(1)",
            "o_proj.bias": "ep:R tp:P(sum)",
            "A_log": "ep:R tp:S(0)",
            "norm.weight": "ep:R tp:R",
            "lm_head.weight": "plain",
        } | {name: "tp:S(0)" if "up" in name else "tp:S(1)" for name in experts}
        assert rank["experts"]["differ"] == []
        padded = "padded: tp rank 1 has 6..10 and 2 of zero of dim 0, where Shard(0) would give it 5..10"
        assert rank["experts"]["reasons"] == {
            "embed.weight": padded,
            "lm_head.weight": padded,
            "qkv.weight": "in pieces: tp rank 0 has 0..12 and 24..27 and 30..33 of dim 0, where Shard(0) would give it 0..18",
        }


def test_outputs(four: list[dict[str, Any]]) -> None:
    for rank in four:
        assert rank["concat"]["ways"] == {"ab": "plain", "c": "ep:R tp:R", "e": "ep:S(0) tp:R"}
        assert rank["concat"]["reasons"] == {
            "ab": "in pieces: tp rank 0 has a 0..12 and b 0..2 of dim 0, where Shard(0) would give it a 0..14"
        }
        assert rank["interleave"]["ways"] == {"ab": "ep:R tp:S(0)", "c": "ep:R tp:R", "e": "ep:S(0) tp:R"}
        assert (rank["interleave"]["differ"], rank["interleave"]["reasons"]) == ([], {})
        assert rank["apart"]["ways"]["a"] == rank["apart"]["ways"]["b"] == "ep:R tp:S(0)"
