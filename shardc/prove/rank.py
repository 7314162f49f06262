"""One rank of a proof, in a process of its own."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

from shardc.prove import reference
from shardc.prove.collectives import install
from shardc.prove.families import family_of
from shardc.prove.family import Family
from shardc.prove.groups import lines
from shardc.prove.heads import take_heads
from shardc.prove.local import local_model
from shardc.prove.task import Outcome, Task

#: How long a rank waits for others in a collective.
PATIENCE = timedelta(seconds=120)


def run(task: Task, rank: int) -> None:
    """Loads, computes and leaves an Outcome; never raises for what may come of a wrong plan."""
    torch.set_num_threads(1)
    running: list[str] = []
    try:
        outcome = _compute(task, rank, running)
    except Exception as error:
        waited = isinstance(error, dist.DistError) or "gloo" in str(error).lower()
        module = running[-1] if running else ""
        outcome = Outcome(rank, module=module, error=f"{type(error).__name__}: {error}", waited=waited)
    unfinished = task.outcome_file(rank).with_suffix(".tmp")
    torch.save(outcome, unfinished)
    unfinished.replace(task.outcome_file(rank))


def _compute(task: Task, rank: int, running: list[str]) -> Outcome:
    dist.init_process_group(
        "gloo", init_method=f"file://{task.folder / 'store'}", rank=rank, world_size=len(task.ranks), timeout=PATIENCE
    )
    across = lines(task.mesh, task.ranks, rank)
    mesh = {dim: (at, task.mesh[dim]) for dim, at in task.ranks[rank].items()}
    tensors, regions = _load(task, mesh)
    family = family_of(str(task.config["model_type"]))
    model, sources = local_model(task.config, family, tensors)
    vocab = reference.text_config(model.config).vocab_size
    install(model, sources, task.collectives, across, regions, family, vocab)
    take_heads(model, sources, regions, family)
    shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    ids = torch.tensor(task.tokens)
    with torch.no_grad(), _named_calls(model, running):
        with reference.watched(model, task.watch) as seen:
            answer = reference.ask(model, family, ids)
        completed = complete(model, family, ids, task.more)
    # All ranks are done before one leaves, so that none waits for a rank that is gone.
    dist.barrier()
    dist.destroy_process_group()
    return Outcome(rank, answer, completed, seen, shapes)


def complete(model: Any, family: Family, ids: torch.Tensor, more: int) -> tuple[tuple[int, ...], ...]:
    """`more` tokens after each row of ids, each the likeliest one after all before it."""
    for _ in range(more):
        ids = torch.cat([ids, reference.ask(model, family, ids)[:, -1:].argmax(-1)], dim=1)
    return tuple(tuple(row[len(row) - more :]) for row in ids.tolist())


def _load(task: Task, mesh: Mapping[str, tuple[int, int]]) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """The rank's tensors as the generated module gives them, and, by its own plan, the regions of each."""
    sys.path.insert(0, str(task.package))
    module = importlib.import_module(f"generated.{task.module}")
    runtime: Any = importlib.import_module("generated._runtime")
    checkpoint = str(task.checkpoint)
    tp_rank, tp_size = mesh.get("tp", (0, 1))
    others = {dim: at for dim, at in mesh.items() if dim != "tp"}
    # The reference has its own idea of which tensors are one: outputs of the spec are left apart.
    tensors = module.load(checkpoint, tp_rank=tp_rank, tp_size=tp_size, mesh=others, fused=False)
    headers = runtime.read_headers(task.checkpoint)
    shards = module.plan(runtime.read_config(task.checkpoint), mesh, headers)
    return tensors, {shard.name: shard.at for shard in shards}


@contextmanager
def _named_calls(model: nn.Module, running: list[str]) -> Iterator[None]:
    """Keeps the names of the modules that are running; after an error the last is the one that failed."""
    handles = []
    for name, module in model.named_modules():
        label = name or type(model).__name__
        handles.append(module.register_forward_pre_hook(lambda module, args, label=label: running.append(label)))
        handles.append(module.register_forward_hook(lambda module, args, output: (running.pop(), None)[1]))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
