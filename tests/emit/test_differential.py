"""Two programs, one plan: the interpreter and the generated module agree on every target, and both with the numbers.

The interpreter (`shardc.plan`) and what a generated module runs on (`shardc.runtime`) share no code.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

import pytest

from shardc.plan.bound import Bound, bind
from shardc.plan.compile import compile_plan
from shardc.plan.evidence import Evidence
from shardc.plan.plan import Plan
from shardc.plan.resolved import Resolved
from shardc.rules.check import claimed_meshes
from shardc.spec.target import Target
from tests.support import ROOT, checkpoint, generated_rows, resolved, rows

SPECS = sorted(path.stem for path in (ROOT / "specs").glob("*.yaml"))


@cache
def spec(name: str) -> Resolved:
    return resolved((ROOT / "specs" / f"{name}.yaml").read_text(), f"specs/{name}.yaml")


@cache
def bound(name: str, target: str, with_headers: bool) -> Bound:
    one = checkpoint(target)
    return bind(spec(name), Evidence(target, one.config.data, one.headers if with_headers else None))


def plan(name: str, target: str, mesh: Mapping[str, int], with_headers: bool = True) -> Plan:
    result = compile_plan(bound(name, target, with_headers), mesh)
    assert result.ok and result.plan is not None
    return result.plan


@lru_cache(maxsize=4)
def theirs(
    name: str, target: str, asked: tuple[tuple[str, tuple[int, int]], ...], with_headers: bool = True
) -> Mapping[str, tuple[Any, ...]]:
    """The rows of the committed module; `asked` gives (rank, size) by mesh dim."""
    module = importlib.import_module(f"generated.{name}")
    one = checkpoint(target)
    headers = {n: module.rt.Header(*header) for n, header in one.headers.items()} if with_headers else None
    return generated_rows(module, one.config.data, dict(asked), headers)


TARGETS = [(name, target.checkpoint) for name in SPECS for target in spec(name).spec.targets]


def tried(target: Target, resolved_: Resolved) -> list[tuple[dict[str, int], dict[str, int]]]:
    """Meshes and ranks: each tp with its last rank, the largest mesh with its first and last.

    Of a table with many tensors two are enough: their layouts are those of the small ones.
    """
    meshes = [dict(mesh) for mesh in claimed_meshes(target, resolved_)]
    small = [mesh for mesh in meshes if all(n == 1 for dim, n in mesh.items() if dim != "tp")]
    last = meshes[-1]
    pairs = [(mesh, {dim: n - 1 for dim, n in mesh.items()}) for mesh in small]
    pairs += [(last, dict.fromkeys(last, 0)), (last, {dim: n - 1 for dim, n in last.items()})]
    return pairs if len(checkpoint(target.checkpoint).headers) < 20_000 else [pairs[1], pairs[-1]]


@pytest.mark.parametrize(("name", "target"), TARGETS)
def test_the_plans_are_one(name: str, target: str) -> None:
    claim = next(t for t in spec(name).spec.targets if t.checkpoint == target)
    for mesh, rank in tried(claim, spec(name)):
        asked = tuple((dim, (rank[dim], size)) for dim, size in mesh.items())
        assert theirs(name, target, asked) == rows(plan(name, target, mesh), rank), (mesh, rank)


@pytest.mark.parametrize(("name", "target"), TARGETS)
def test_the_plans_from_a_config_alone_are_one(name: str, target: str) -> None:
    claim = next(t for t in spec(name).spec.targets if t.checkpoint == target)
    mesh = dict.fromkeys(spec(name).mesh_dims, 1) | {"tp": claim.tp[1]}
    rank = {dim: size - 1 for dim, size in mesh.items()}
    asked = tuple((dim, (rank[dim], size)) for dim, size in mesh.items())
    assert theirs(name, target, asked, False) == rows(plan(name, target, mesh, with_headers=False), rank)


KDA = "model.language_model.layers.0.self_attn."
GDN = "model.layers.0.linear_attn."
GDN_5 = "model.language_model.layers.0.linear_attn."
EXPERT = "model.language_model.layers.3.mlp.experts.7."
LITERAL: list[tuple[str, str, dict[str, tuple[int, int]], str, tuple[Any, ...]]] = [
    ("glm5_next", "glm-5.3-flash", {"tp": (1, 2)}, f"{KDA}A_log", (((32, 64, 0),),)),
    ("glm5_next", "glm-5.3-flash", {"tp": (1, 2)}, f"{KDA}dt_bias", (((4096, 8192, 0),),)),
    ("glm5_next", "glm-5.3-flash", {"tp": (1, 2)}, f"{KDA}o_proj.weight", (((0, 4096, 0),), ((4096, 8192, 0),))),
    ("glm5_next", "glm-5.3-flash", {"tp": (5, 8)}, f"{KDA}o_norm.weight", (((0, 128, 0),),)),
    ("glm5_next", "glm-5.3-flash", {"tp": (3, 16)}, f"{EXPERT}gate_proj.weight_scale_inv", (((3, 4, 0),), ((0, 32, 0),))),
    ("glm5_next", "glm-5.3-flash-nvfp4", {"tp": (63, 64)}, f"{EXPERT}down_proj.weight", (((0, 4096, 0),), ((1008, 1024, 0),))),
    ("glm5_next", "glm-5.3-flash-nvfp4", {"tp": (63, 64)}, f"{EXPERT}down_proj.weight_scale", (((0, 4096, 0),), ((126, 128, 0),))),
    ("glm5_next", "glm-5.3-flash-nvfp4", {"tp": (1, 2), "ep": (0, 8)}, f"{EXPERT}down_proj.weight_scale_2", ()),
    ("llama", "llama-3.1-8b", {"tp": (5, 16)}, "model.layers.31.self_attn.k_proj.weight", (((256, 384, 0),), ((0, 4096, 0),))),
    ("llama", "llama-3.1-8b", {"tp": (5, 16)}, "model.layers.31.self_attn.q_proj.weight", (((1280, 1536, 0),), ((0, 4096, 0),))),
    ("llama", "mistral-7b", {"tp": (1, 2)}, "lm_head.weight", (((16032, 32002, 62),), ((0, 4096, 0),))),
    ("llama", "smollm2-135m", {"tp": (2, 3)}, "model.layers.0.self_attn.o_proj.weight", (((0, 576, 0),), ((384, 576, 0),))),
    ("qwen3_next", "qwen3-next-80b-a3b", {"tp": (3, 4)}, f"{GDN}in_proj_qkvz.weight", (((9216, 12288, 0),), ((0, 2048, 0),))),
    ("qwen3_next", "qwen3-next-80b-a3b", {"tp": (3, 4)}, f"{GDN}in_proj_ba.weight", (((48, 64, 0),), ((0, 2048, 0),))),
    ("qwen3_next", "qwen3-next-80b-a3b", {"tp": (3, 4)}, f"{GDN}conv1d.weight",
     (((1536, 2048, 0), (3584, 4096, 0), (7168, 8192, 0)), ((0, 1, 0),), ((0, 4, 0),))),
    ("qwen3_5", "qwen3.5-35b-a3b", {"tp": (1, 2)}, f"{GDN_5}in_proj_qkv.weight",
     (((1024, 2048, 0), (3072, 4096, 0), (6144, 8192, 0)), ((0, 2048, 0),))),
    ("qwen3_5", "qwen3.5-35b-a3b", {"tp": (1, 2), "ep": (3, 4)}, "model.language_model.layers.0.mlp.experts.gate_up_proj",
     (((192, 256, 0),), ((256, 512, 0), (768, 1024, 0)), ((0, 2048, 0),))),
    ("qwen3_moe", "qwen3-30b-a3b-fp8", {"tp": (1, 2)}, "model.layers.0.mlp.experts.0.down_proj.weight_scale_inv",
     (((0, 16, 0),), ((3, 6, 0),))),
    ("qwen3_moe", "qwen3-30b-a3b", {"tp": (31, 32)}, "model.layers.47.self_attn.k_proj.weight",
     (((384, 512, 0),), ((0, 2048, 0),))),
    ("qwen3_moe", "qwen3-30b-a3b", {"tp": (31, 32), "ep": (7, 8)}, "model.layers.0.mlp.experts.127.down_proj.weight",
     (((0, 2048, 0),), ((744, 768, 0),))),
    ("qwen3", "qwen3-1.7b", {"tp": (7, 8)}, "model.layers.0.self_attn.v_proj.weight", (((896, 1024, 0),), ((0, 2048, 0),))),
]  # fmt: skip


@pytest.mark.parametrize(("name", "target", "at", "tensor", "regions"), LITERAL, ids=lambda value: str(value)[-40:])
def test_the_numbers_are_these(
    name: str, target: str, at: dict[str, tuple[int, int]], tensor: str, regions: tuple[Any, ...]
) -> None:
    mesh = dict.fromkeys(spec(name).mesh_dims, 1) | {dim: size for dim, (_, size) in at.items()}
    rank = {dim: r for dim, (r, _) in at.items()}
    assert interpreted(name, target, tuple(mesh.items()), tuple(rank.items()))[tensor][1] == regions
    assert theirs(name, target, tuple(at.items()))[tensor][1] == regions


@cache
def interpreted(
    name: str, target: str, mesh: tuple[tuple[str, int], ...], rank: tuple[tuple[str, int], ...]
) -> Mapping[str, tuple[Any, ...]]:
    return rows(plan(name, target, dict(mesh)), dict(rank))
