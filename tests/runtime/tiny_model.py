"""A small model written as a generated module would be, and checkpoints of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

import shardc.runtime as rt
from shardc.runtime.dtypes import FILE_DTYPES

DTYPE = ("BF16", "F32")
FORMATS = {
    "block4": rt.Format(
        (
            rt.Part("{stem}.weight", ("F8_E4M3",), (rt.Dim("out"), rt.Dim("in"))),
            rt.Part("{stem}.weight_scale_inv", ("F32",), (rt.Dim("out", 4, ceil=True), rt.Dim("in", 4, ceil=True))),
        )
    ),
    "packed": rt.Format(
        (
            rt.Part("{stem}.weight", ("U8",), (rt.Dim("out"), rt.Dim("in", 2))),
            rt.Part("{stem}.weight_scale", ("F8_E4M3",), (rt.Dim("out"), rt.Dim("in", 8))),
            rt.Part("{stem}.weight_scale_2", ("F32",), ()),
            rt.Part("{stem}.input_scale", ("F32",), (), optional=True),
        )
    ),
}
CONFIG = {
    "text_config": {
        "hidden_size": 8,
        "num_attention_heads": 8,
        "num_key_value_heads": 2,
        "head_dim": 3,
        "intermediate_size": 16,
        "num_experts": 4,
        "vocab_size": 10,
    }
}


def tensors(
    config: rt.Config, mesh: Mapping[str, rt.MeshDim], granule: Mapping[str, int], file: rt.Contents
) -> Iterator[rt.Tensor]:
    c = rt.root(config, "text_config")
    hidden = rt.get(c, "hidden_size")
    dim = rt.get(c, "head_dim")
    kv_heads = rt.axis(
        "kv_heads", rt.get(c, "num_key_value_heads"), mesh["tp"], granule=granule["kv_heads"], if_fewer="replicate"
    )
    heads = rt.within("heads", rt.get(c, "num_attention_heads"), kv_heads)
    inter = rt.axis("inter", rt.get(c, "intermediate_size"), mesh["tp"], granule=granule["inter"])
    experts = rt.axis("experts", rt.get(c, "num_experts"), mesh["ep"], granule=granule["experts"])
    vocab = rt.axis("vocab", rt.get(c, "vocab_size"), mesh["tp"], granule=granule["vocab"], pad_to=4)
    rt.contract("tiny_kernel", "heads >= 1", heads.local >= 1, {"heads": heads.local}, mesh["tp"])

    vocab_rows = {0: ((vocab.start, vocab.stop, vocab.pad),)}
    yield rt.Tensor("embed.weight", rt.Family((vocab.size, hidden), "vocab_rows", DTYPE, at=vocab_rows))
    yield rt.Tensor(
        "lm_head.weight", rt.Family((vocab.size, hidden), "vocab_rows", DTYPE, at=vocab_rows, tied_to="embed.weight")
    )

    q, kv = heads.size * dim, kv_heads.size * dim
    q_span = (heads.start * dim, heads.stop * dim)
    k_span = (q + kv_heads.start * dim, q + kv_heads.stop * dim)
    v_span = (k_span[0] + kv, k_span[1] + kv)
    yield rt.Tensor(
        "qkv.weight",
        rt.Family(
            (q + 2 * kv, hidden),
            "segmented_rows",
            DTYPE,
            at={0: (q_span, k_span, v_span)},
            segments={0: (q, kv, kv)},
        ),
    )
    yield rt.Tensor("o_proj.weight", rt.Family((hidden, q), "channel_cols", DTYPE, at={1: (q_span,)}))
    yield rt.Tensor("o_proj.bias", rt.Family((hidden,), "rank0", DTYPE, at={0: rt.rank0(mesh["tp"], hidden)}))
    yield rt.Tensor("A_log", rt.Family((heads.size,), "head_rows", ("F32",), at={0: ((heads.start, heads.stop),)}))
    yield rt.Tensor("norm.weight", rt.Family((hidden,), "replicated", DTYPE, load="F32"))
    yield rt.Tensor("scale", rt.Family((), "replicated", DTYPE, optional=True))
    for expert in range(experts.start, experts.stop):
        at = f"experts.{expert}."
        rows = {0: ((inter.start, inter.stop),)}
        cols = {1: ((inter.start, inter.stop),)}
        formats = ("dense", "block4", "packed")
        yield rt.Tensor(
            at + "up.weight",
            rt.Family(
                (inter.size, hidden),
                "expert_slices + column_parallel",
                DTYPE,
                at=rows,
                formats=formats,
                units=(("inter", 0, 1),),
            ),
        )
        yield rt.Tensor(
            at + "down.weight",
            rt.Family(
                (hidden, inter.size),
                "expert_slices + row_parallel",
                DTYPE,
                at=cols,
                formats=formats,
                units=(("inter", 1, 1),),
            ),
        )


IGNORED = ("visual.*",)
MESH = ("tp", "ep")
SPEC = rt.Spec(tensors, FORMATS, IGNORED, MESH, DTYPE)


def mesh(tp: tuple[int, int] = (0, 1), ep: tuple[int, int] = (0, 1)) -> dict[str, rt.MeshDim]:
    """(rank, size) of each mesh dim."""
    return rt.mesh(MESH, extra={"tp": tp, "ep": ep})


def arange(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """0, 1, 2, … in row-major order."""
    return torch.arange(torch.Size(shape).numel(), dtype=torch.float32).reshape(shape).to(dtype)


def equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Same dtype, shape and values."""
    return one.dtype == other.dtype and torch.equal(one.float(), other.float())


def full_tensors(format: str = "dense") -> dict[str, torch.Tensor]:
    """Every tensor of a checkpoint whose lm_head is tied and absent; the experts in one format."""
    full = {
        "embed.weight": arange(10, 8),
        "qkv.weight": arange(36, 8),
        "o_proj.weight": arange(8, 24),
        "o_proj.bias": arange(8),
        "A_log": arange(8),
        "norm.weight": arange(8, dtype=torch.bfloat16),
    }
    for expert in range(4):
        for name, rows, cols in (("up", 16, 8), ("down", 8, 16)):
            full |= expert_tensors(format, f"experts.{expert}.{name}", rows, cols)
    return full


def expert_tensors(format: str, stem: str, rows: int, cols: int) -> dict[str, torch.Tensor]:
    """The file tensors of one expert's weight."""
    if format == "dense":
        return {f"{stem}.weight": arange(rows, cols)}
    if format == "block4":
        return {
            f"{stem}.weight": arange(rows, cols, dtype=torch.float8_e4m3fn),
            f"{stem}.weight_scale_inv": arange(rows // 4, cols // 4),
        }
    return {
        f"{stem}.weight": arange(rows, cols // 2, dtype=torch.uint8),
        f"{stem}.weight_scale": arange(rows, cols // 8, dtype=torch.float8_e4m3fn),
        f"{stem}.weight_scale_2": torch.tensor(2.0),
        f"{stem}.input_scale": torch.tensor([3.0]),
    }


def headers_of(full: Mapping[str, torch.Tensor]) -> dict[str, rt.Header]:
    """The headers a file with these tensors would have."""
    return {name: rt.Header(FILE_DTYPES[tensor.dtype], tuple(tensor.shape)) for name, tensor in full.items()}


def write_checkpoint(directory: Path, full: Mapping[str, torch.Tensor], config: Mapping[str, Any] = CONFIG) -> Path:
    """A checkpoint of one file."""
    directory.mkdir(exist_ok=True)
    (directory / "config.json").write_text(json.dumps(config))
    save_file(dict(full), directory / "model.safetensors")
    return directory


def write_indexed_checkpoint(directory: Path, full: Mapping[str, torch.Tensor]) -> Path:
    """A checkpoint of two files and an index."""
    directory.mkdir(exist_ok=True)
    (directory / "config.json").write_text(json.dumps(CONFIG))
    names = sorted(full)
    halves = {"a.safetensors": names[::2], "b.safetensors": names[1::2]}
    for file, held in halves.items():
        save_file({name: full[name] for name in held}, directory / file)
    weight_map = {name: file for file, held in halves.items() for name in held}
    (directory / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
    return directory
