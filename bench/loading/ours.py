"""The generated loaders of the repository that the benchmark runs in."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from bench.loading.methods import Job, Method, Tensors


def module_of(job: Job) -> ModuleType:
    """The generated module that loads the workload."""
    return import_module(f"generated.{job.workload.module}")


def options(job: Job) -> dict[str, Any]:
    """What every call is given."""
    return {"tp_size": job.tp} | ({} if job.threads is None else {"threads": job.threads})


def load(job: Job, rank: int) -> Tensors:
    """One rank."""
    tensors: Tensors = module_of(job).load(str(job.folder), tp_rank=rank, **options(job))
    return tensors


def load_ranks(job: Job, ranks: list[int]) -> list[Tensors]:
    """All ranks in one pass."""
    tensors: list[Tensors] = module_of(job).load_ranks(str(job.folder), ranks=ranks, **options(job))
    return tensors


def prepare(job: Job, ranks: list[int]) -> None:
    """Imports the module."""
    module_of(job)


def prepare_ranks(job: Job, ranks: list[int]) -> None:
    """Imports the module. Raises RuntimeError where it can't load the ranks of a node in one pass."""
    if not hasattr(module_of(job), "load_ranks"):
        raise RuntimeError("the generated modules of this version have no load_ranks")


METHODS = (
    Method("shardc", prepare, load),
    Method("shardc load_ranks", prepare_ranks, load_all=load_ranks),
)
