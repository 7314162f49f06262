"""transformers' own tensor parallelism beside shardc's: local shapes and logits, judged by the whole model's.

Each rank is a process (gloo, on the CPU). A model of transformers is loaded whole, cut by the `tp_plan` of its class
with transformers' own `apply_tensor_parallelism`, and run. `from_pretrained(tp_plan="auto")` does the same as it reads,
but wants the package accelerate. `python -m scripts.peer_tp_plan` writes docs/peers.md.
"""

from __future__ import annotations

import json
import multiprocessing
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import click
import torch
import torch.distributed as dist
import transformers
from torch.distributed.device_mesh import init_device_mesh

from shardc.cli.specs import resolve_file
from shardc.emit.tree import replace_file
from shardc.prove import reference
from shardc.prove.compare import Difference, worst
from shardc.prove.families import family_of
from shardc.prove.family import Family
from shardc.prove.local import local_model
from shardc.prove.proof import prove
from shardc.prove.subject import Subject, made_up
from shardc.prove.task import Outcome

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "peers.md"
#: (spec, small config, sizes of tp).
CASES = (
    ("llama", "llama", (2, 3, 4)),
    ("llama", "llama_biases", (2, 3, 4)),
    ("qwen3", "qwen3", (2, 4)),
    ("mixtral", "mixtral", (2, 4)),
    ("olmo2", "olmo2_gqa", (2,)),
    ("gpt_neox", "gpt_neox", (2, 3, 4)),
)
#: By weight, with * for the number of a layer, the shapes that it has on the ranks, in their order.
Shapes = Mapping[str, Sequence[tuple[int, ...]]]


@dataclass(frozen=True)
class Side:
    """What ranks came to: by shardc or by transformers. `refused` says why there is no answer."""

    difference: Difference | None = None
    shapes: Shapes = field(default_factory=dict)
    refused: str = ""

    @property
    def right(self) -> bool:
        """Whether the logits are the whole model's."""
        return self.difference is not None and self.difference.small

    @property
    def shown(self) -> str:
        """The largest difference, of the largest logit."""
        return f"{self.difference.relative:.1e}" if self.difference else "none"


@dataclass(frozen=True)
class Comparison:
    """One model at one size of tp; `whole` has its weights on one rank."""

    config: str
    tp: int
    whole: Shapes
    ours: Side
    theirs: Side

    @property
    def verdict(self) -> str:
        """Who is right."""
        if self.ours.right and self.theirs.right:
            return "both are right"
        ours = self.ours.refused or "wrong logits"
        theirs = self.theirs.refused or "wrong logits"
        if self.ours.right:
            return f"shardc is right; transformers fails: {theirs}"
        if self.theirs.right:
            return f"transformers is right; shardc fails: {ours}"
        return f"neither: shardc {ours}; transformers {theirs}"

    def differing(self) -> list[str]:
        """The weights that both have, in other shapes."""
        both = self.ours.shapes.keys() & self.theirs.shapes.keys()
        return sorted(name for name in both if list(self.ours.shapes[name]) != list(self.theirs.shapes[name]))


def compare(spec: str, config: str, sizes: Iterable[int]) -> list[Comparison]:
    """A small model, cut by both, at each size of tp."""
    resolved, findings = resolve_file(ROOT / "specs" / f"{spec}.yaml")
    assert resolved is not None, findings
    found = []
    with tempfile.TemporaryDirectory(prefix="shardc-peer-") as folder:
        subject = made_up(ROOT / "specs" / "small" / f"{config}.json", resolved, Path(folder))
        whole = _by_pattern([_shapes(reference.build(subject.config))])
        for tp in sizes:
            proof = prove(subject, resolved, {"tp": tp}, lambda text: None)
            refused = "; ".join(f"{one.code}: {one.message}" for one in proof.findings)
            ours = Side(proof.difference, _by_pattern([_in_memory(subject, one) for one in proof.outcomes]), refused)
            found.append(Comparison(config, tp, whole, ours, peer(subject, tp)))
    return found


def _in_memory(subject: Subject, outcome: Outcome) -> Mapping[str, tuple[int, ...]]:
    """The shapes of a rank's weights by transformers' names for them, which may hold several tensors of the file."""
    tensors = {name: torch.zeros(shape) for name, shape in outcome.shapes.items()}
    model, _ = local_model(subject.config, family_of(str(subject.config["model_type"])), tensors)
    return _shapes(model)


def _shapes(model: Any) -> dict[str, tuple[int, ...]]:
    """Of every weight on this rank; a tied one under both names."""
    named: Iterable[tuple[str, Any]] = model.named_parameters(remove_duplicate=False)
    return {name: tuple(getattr(one, "_local_tensor", one).shape) for name, one in named}


def _by_pattern(ranks: Sequence[Mapping[str, tuple[int, ...]]]) -> Shapes:
    """Layers under one name; all of them have the same shapes."""
    found: dict[str, list[tuple[int, ...]]] = {}
    for name in ranks[0] if ranks else ():
        pattern = re.sub(r"\.\d+\.", ".*.", name)
        shapes = [rank[name] for rank in ranks]
        assert found.setdefault(pattern, shapes) == shapes, pattern
    return found


def peer(subject: Subject, tp: int) -> Side:
    """What transformers' own ranks come to."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["transformers.modeling_utils"])
    with tempfile.TemporaryDirectory(prefix="shardc-peer-") as folder:
        arguments = [(rank, tp, subject.checkpoint, subject.tokens.tolist(), Path(folder)) for rank in range(tp)]
        processes = [context.Process(target=_rank, args=one, daemon=True) for one in arguments]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
            if process.exitcode:
                raise RuntimeError(f"a rank of transformers ended with exit code {process.exitcode}, as it says above")
        found = [torch.load(Path(folder) / f"rank{rank}.pt", weights_only=True) for rank in range(tp)]
    shapes = _by_pattern([one["shapes"] for one in found]) if all(one["shapes"] for one in found) else {}
    refused = next((one["error"] for one in found if one["error"]), "")
    if refused:
        return Side(None, shapes, refused)
    outcomes = [Outcome(rank, one["answer"]) for rank, one in enumerate(found)]
    return Side(worst(outcomes, subject.wanted), shapes)


def _rank(rank: int, tp: int, checkpoint: Path, tokens: list[list[int]], folder: Path) -> None:
    """Leaves the logits, the local shapes, and the error where there is one."""
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo", init_method=f"file://{folder / 'store'}", rank=rank, world_size=tp, timeout=timedelta(seconds=60)
    )
    left: dict[str, Any] = {"answer": None, "shapes": {}, "error": ""}
    whole, family = _whole(checkpoint)
    ids = torch.tensor(tokens)
    try:
        model = _cut(whole, tp)
        left["shapes"] = _shapes(model)
        with torch.no_grad():
            left["answer"] = reference.ask(model, family, ids)
        dist.barrier()
    except (RuntimeError, ValueError) as error:
        left["error"] = f"{type(error).__name__}: {error}".splitlines()[0]
    torch.save(left, folder / f"rank{rank}.pt")


def _whole(checkpoint: Path) -> tuple[Any, Family]:
    """The model as the reference computes it, and its family."""
    config = json.loads((checkpoint / "config.json").read_text(encoding="utf-8"))
    how = {"dtype": reference.COMPUTE, "attn_implementation": "eager", "experts_implementation": "eager"}
    model = reference.model_class(config).from_pretrained(checkpoint, **how).eval()
    return model, family_of(str(config["model_type"]))


def _cut(model: Any, tp: int) -> Any:
    """A rank's model. Tied weights are cut one by one and then tied again, as `from_pretrained` does it."""
    from transformers.distributed.configuration_utils import DistributedConfig
    from transformers.distributed.tensor_parallel import apply_tensor_parallelism

    for name in model.all_tied_weights_keys:
        path, _, last = name.rpartition(".")
        alone = model.get_parameter(name).detach().clone()
        setattr(model.get_submodule(path), last, torch.nn.Parameter(alone, requires_grad=False))
    plan, *_ = model._resolve_parallel_plans(DistributedConfig(tp_size=tp))
    mesh = init_device_mesh("cpu", (tp,), mesh_dim_names=("tp",))
    apply: Callable[..., Any] = apply_tensor_parallelism
    model = apply(model, mesh, plan)
    model.tie_weights()
    return model


_HEAD = """\
# Beside transformers

transformers {version} can run a model on several ranks by itself: a class has a `tp_plan`, a style for each module
(`colwise`, `rowwise`, …), and rows or columns are divided by the number of ranks. Below, small models with random
weights ([specs/small](../specs/small)) are cut and run both ways; the logits of the whole model are the judge. Numbers
are the largest difference of any rank's logits, of the largest logit (float32; 1e-4 is allowed).

Written by `python -m scripts.peer_tp_plan`.

- With more ranks than kv heads transformers gives each rank half of one: it divides, it loads, and the first forward
  pass fails when it looks for whole heads. shardc gives the whole head to both ranks.
- 2 kv heads over 3 ranks work for neither. shardc says so before a byte is read.
- A vocabulary is divided as it is by transformers, and filled up to multiples of 64 by shardc. Either is right.
- A norm over all heads' channels (OLMo 2) is kept whole by transformers, which gathers q and k for it and repeats the
  attention on every rank. shardc cuts it, and the ranks add up their sums of squares. Either is right.
- Where all of it divides, both compute the same, to the rounding of sums.

| config | tp | shardc | transformers | verdict |
|---|--:|--:|--:|---|
"""
_WEIGHTS = """
## Local shapes that differ

Where both cut a model, all other weights have the same shape on every rank. Of several shapes the first is rank 0's.
`layers.*` stands for every layer; names are those of transformers' modules.

| config | tp | weight | whole | shardc | transformers |
|---|--:|---|---|---|---|
"""


def page(comparisons: Sequence[Comparison]) -> str:
    """docs/peers.md."""
    text = _HEAD.format(version=transformers.__version__)
    for one in comparisons:
        text += f"| {one.config} | {one.tp} | {one.ours.shown} | {one.theirs.shown} | {one.verdict} |\n"
    text += _WEIGHTS
    for one in comparisons:
        for name in one.differing():
            cells = (one.whole[name], one.ours.shapes[name], one.theirs.shapes[name])
            text += f"| {one.config} | {one.tp} | {name} | {' | '.join(map(_shown, cells))} |\n"
    return text


def _shown(shapes: Sequence[tuple[int, ...]]) -> str:
    several = shapes[:1] if len(set(shapes)) == 1 else shapes
    return ", ".join(str(list(shape)) for shape in several)


def main() -> int:
    """Returns the exit code: 1 where shardc's ranks computed something else than the whole model."""
    found: list[Comparison] = []
    for spec, config, sizes in CASES:
        for one in compare(spec, config, sizes):
            click.echo(f"{one.config} tp={one.tp}: {one.verdict}", err=True)
            found.append(one)
    replace_file(PAGE, page(found))
    return int(any(one.ours.difference is not None and not one.ours.right for one in found))


if __name__ == "__main__":
    sys.exit(main())
