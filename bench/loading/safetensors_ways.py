"""Ways to load a part with safetensors, or with the bytes of its files."""

from __future__ import annotations

import mmap
from functools import partial
from typing import Any

from bench.loading.methods import Job, Method, Tensors, imports, places

DTYPES = {"BF16": "bfloat16", "F32": "float32", "U8": "uint8", "F8_E4M3": "float8_e4m3fn"}


def dtype_of(job: Job, name: str) -> Any:
    """torch's dtype of a tensor."""
    import torch

    return getattr(torch, DTYPES[job.tensors[name].dtype])


def load_file_narrow(job: Job, rank: int) -> Tensors:
    """Every file as a whole, then the rank's part of each tensor."""
    from safetensors.torch import load_file

    kept: Tensors = {}
    for path in job.files:
        full = load_file(path)
        for name in list(full):
            kept[name] = job.own(name, full.pop(name), rank)
    return kept


def load_narrow_copy(job: Job, rank: int) -> Tensors:
    """Parameters first, as an engine has them; then each tensor as a whole, narrowed and copied into its parameter."""
    import torch
    from safetensors import safe_open

    parameters = {name: torch.empty(job.local_shape(name), dtype=dtype_of(job, name)) for name in job.tensors}
    for path in job.files:
        with safe_open(path, framework="pt") as file:
            for name in file.keys():  # noqa: SIM118 (it is no dict)
                parameters[name].copy_(job.narrow(name, file.get_tensor(name), rank))
    return parameters


def get_slice(job: Job, rank: int, **options: Any) -> Tensors:
    """Only the rank's part of each tensor, by slicing. A slice is a view of the mapped file, so it is copied."""
    import torch
    from safetensors import safe_open

    kept: Tensors = {}
    for path in job.files:
        with safe_open(path, framework="pt", **options) as file:
            for name in file.offset_keys():
                part = job.part(name, rank)
                if part is None:
                    view = file.get_tensor(name)
                else:
                    dim, start, length = part
                    view = file.get_slice(name)[(slice(None),) * dim + (slice(start, start + length),)]
                kept[name] = view.clone(memory_format=torch.contiguous_format)
    return kept


def mapped_views(job: Job, rank: int) -> Tensors:
    """Every file mapped into memory; the rank's part of each tensor is copied from a view of it."""
    import torch

    kept: Tensors = {}
    views: dict[object, torch.Tensor] = {}
    for place in places(job):
        if place.path not in views:
            with place.path.open("rb") as file:
                mapping = mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
            views[place.path] = torch.frombuffer(mapping, dtype=torch.uint8)
        stored = views[place.path][place.begin : place.end]
        full = stored.view(dtype_of(job, place.name)).view(job.tensors[place.name].shape)
        kept[place.name] = job.own(place.name, full, rank)
    return kept


_prepare = imports("torch", "safetensors.torch")

METHODS = (
    Method("load_file + narrow", _prepare, load_file_narrow),
    Method("load-narrow-copy", _prepare, load_narrow_copy),
    Method("get_slice", _prepare, get_slice),
    Method("get_slice (pread)", _prepare, partial(get_slice, backend="pread")),
    Method("mmap views", _prepare, mapped_views),
)
