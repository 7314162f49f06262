"""torch's own ways, and transformers': what needs a process group."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.loading.methods import Job, Method, Tensors
from bench.loading.safetensors_ways import dtype_of

ONE_TENSOR = "transformers keeps all experts of a layer in one tensor: nothing to compare by name"


def join_fake_group(job: Job, ranks: list[int]) -> None:
    """A group of `tp` ranks in which nothing is sent: this process is the first of `ranks`."""
    import torch.distributed
    import torch.distributed.checkpoint
    import torch.distributed.tensor
    from safetensors import safe_open  # noqa: F401
    from torch.testing._internal.distributed.fake_pg import FakeStore

    torch.distributed.init_process_group("fake", store=FakeStore(), rank=ranks[0], world_size=job.tp)


def placements(job: Job, name: str) -> list[Any]:
    """How DTensor cuts a tensor."""
    from torch.distributed.tensor import Replicate, Shard

    dim = job.tensors[name].dim
    return [Replicate() if dim is None else Shard(dim)]


def tp_mesh(job: Job) -> Any:
    """The mesh of all ranks."""
    from torch.distributed.device_mesh import init_device_mesh

    return init_device_mesh("cpu", (job.tp,))


def dtensor(job: Job, rank: int) -> Tensors:
    """Every tensor read by every rank, distributed without communication, and the rank's part kept."""
    import torch
    from safetensors import safe_open
    from torch.distributed.tensor import distribute_tensor

    mesh, kept = tp_mesh(job), {}
    for path in job.files:
        with safe_open(path, framework="pt") as file:
            for name in file.offset_keys():
                cut = distribute_tensor(file.get_tensor(name), mesh, placements(job, name), src_data_rank=None)
                kept[name] = cut.to_local().clone(memory_format=torch.contiguous_format)
    return kept


def write_dcp(job: Job, path: Path) -> None:
    """All tensors, whole, as a checkpoint of torch.distributed.checkpoint."""
    import torch.distributed.checkpoint as dcp
    from safetensors.torch import load_file

    full: Tensors = {}
    for file in job.files:
        full |= load_file(file)
    dcp.save(full, checkpoint_id=path, no_dist=True)


def load_dcp(job: Job, rank: int) -> Tensors:
    """The rank's DTensors, filled from the checkpoint of whole tensors."""
    import torch
    import torch.distributed.checkpoint as dcp
    from torch.distributed.tensor import DTensor

    mesh = tp_mesh(job)
    state: dict[str, Any] = {}
    for name, stored in job.tensors.items():
        local = torch.empty(job.local_shape(name), dtype=dtype_of(job, name))
        full = torch.empty(stored.shape, device="meta")
        state[name] = DTensor.from_local(
            local, mesh, placements(job, name), run_check=False, shape=full.shape, stride=full.stride()
        )
    dcp.load(state, checkpoint_id=job.made, no_dist=True)
    return {name: tensor.to_local() for name, tensor in state.items()}


def join_gloo_group(job: Job, ranks: list[int]) -> None:
    """The group of all ranks, from the environment that torchrun sets."""
    import torch.distributed
    from transformers import AutoModelForCausalLM, LlamaForCausalLM  # noqa: F401

    torch.distributed.init_process_group("gloo")


def transformers(job: Job, rank: int) -> Tensors:
    """`from_pretrained` with the model's own plan."""
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(job.folder, tp_plan="auto", dtype=torch.bfloat16)
    return {name: getattr(one, "to_local", lambda one=one: one)().detach() for name, one in model.named_parameters()}


METHODS = (
    Method("DTensor", join_fake_group, dtensor),
    Method("DCP", join_fake_group, load_dcp, make=write_dcp, suffix=".dcp"),
    Method(
        "transformers tp_plan",
        join_gloo_group,
        transformers,
        environment={"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error", "TOKENIZERS_PARALLELISM": "false"},
        refuses=dict.fromkeys(("moe", "fp8", "nvfp4"), ONE_TENSOR),
    ),
)
